// servers: browser, puppeteer
// returns: {"playwright": true, "puppeteer": ["puppeteerNavigate", "puppeteerScreenshot", "puppeteerClick", "puppeteerFill", "puppeteerSelect", "puppeteerHover", "puppeteerEvaluate"], "resources": ["console://logs"], "refused": [["invalid_arguments", "notStarted"], ["invalid_arguments", "notStarted"]]}
// Two servers that drive a browser: what they can do is known without there being one.
const names = async (server) => (await MCP[server].$api()).tools.filter(({ operation }) => operation === "tools/call").map(({ method }) => method);
const refused = (call) => call.then(() => "made", (e) => [e.code, e.effectStatus]);
const [playwright, puppeteer] = [await names("browser"), await names("puppeteer")];
return {
  playwright: ["browserNavigate", "browserSnapshot", "browserClick"].every((name) => playwright.includes(name)),
  puppeteer,
  resources: (await MCP.puppeteer.resources.list()).resources.map(({ uri }) => uri),
  refused: [await refused(MCP.browser.browserNavigate({})), await refused(MCP.puppeteer.puppeteerClick({ selector: 5 }))],
};
