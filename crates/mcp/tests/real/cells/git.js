// servers: git
// returns: [true, ["Message: add a", "Message: begin"], true, true]
// A commit is made through the server.
const { git } = MCP;
const repo = { repo_path: "." };
const text = (result) => result.content.map((block) => block.text).join("\n");
await tools.write({ path: "a.txt", content: "a\n" });
await git.gitAdd({ ...repo, files: ["a.txt"] });
const staged = text(await git.gitDiffStaged(repo));
await git.gitCommit({ ...repo, message: "add a" });
const log = text(await git.gitLog({ ...repo, max_count: 5 }));
const nothing = await git.gitShow({ ...repo, revision: "no-such-revision" });
return [staged.includes("+a"), log.match(/Message: .*/g), nothing.isError, /main/.test(text(await git.gitBranch({ ...repo, branch_type: "local" })))];
