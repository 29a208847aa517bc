//! What a person at a terminal sees and answers.

use crate::harness::Cli;
use crate::pty::Terminal;

const WRITE: &str = "return (await tools.write({ path: 'a.txt', content: 'x' })).created";

#[test]
fn a_yes_lets_the_call_through() {
    let cli = Cli::new();
    let mut terminal = Terminal::start(&cli, &["exec", WRITE], &[]);
    terminal.wait_for("Allow?");
    terminal.type_text("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("openclaw:core:write") && screen.contains("\"path\": \"a.txt\""),
        "{screen}"
    );
    assert_eq!(
        std::fs::read_to_string(cli.env.workspace().join("a.txt")).unwrap(),
        "x"
    );
}

#[test]
fn a_no_with_a_reason_reaches_the_program() {
    let cli = Cli::new();
    let mut terminal = Terminal::start(&cli, &["exec", WRITE], &[]);
    terminal.wait_for("Allow?");
    terminal.type_text("n not today\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("Denied by user: not today"), "{screen}");
    assert!(!cli.env.workspace().join("a.txt").exists());
}

#[test]
fn one_answer_can_cover_the_cell() {
    let cli = Cli::new();
    let program = "for (const path of ['a', 'b', 'c']) await tools.write({ path, content: path }); return 'all'";
    let mut terminal = Terminal::start(&cli, &["exec", program], &[]);
    terminal.wait_for("Allow?");
    terminal.type_text("c\n");
    let (code, screen) = terminal.end();
    assert_eq!((code, screen.matches("Allow?").count()), (0, 1), "{screen}");
    assert!(cli.env.workspace().join("c").exists());
}

#[test]
fn parallel_calls_are_asked_one_after_the_other() {
    let cli = Cli::new();
    let program = "await Promise.all(['a', 'b'].map(path => tools.write({ path, content: '' }))); return 'both'";
    let mut terminal = Terminal::start(&cli, &["exec", program], &[]);
    terminal.wait_for("\"path\": \"a\"");
    terminal.type_text("y\n");
    terminal.wait_for("\"path\": \"b\"");
    terminal.type_text("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(
        (code, screen.matches("wants to run").count()),
        (0, 2),
        "{screen}"
    );
}

#[test]
fn arguments_cannot_steer_the_terminal() {
    let cli = Cli::new();
    let program =
        r"return await tools.exec({ command: 'echo \u001b[2J\u001b[1;1H\u202e; rm -rf /' })";
    let mut terminal = Terminal::start(&cli, &["exec", program], &[]);
    terminal.wait_for("Allow?");
    terminal.type_text("\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen}");
    assert!(
        screen.contains(r"\u001b[2J") && screen.contains(r"\u202e"),
        "{screen}"
    );
    assert!(
        !screen.contains("\u{1b}[2J") && !screen.contains('\u{202e}'),
        "{screen}"
    );
}

#[test]
fn values_cannot_steer_the_terminal() {
    let cli = Cli::new();
    let (code, screen) = Terminal::start(&cli, &["exec", r"return 'a\u001b[2Jb'"], &[]).end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains(r"a\u{1b}[2Jb"), "{screen:?}");
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let cli = Cli::new();
    let (_, screen) = Terminal::start(&cli, &["wait", "x"], &[]).end();
    assert!(screen.contains('\u{1b}'), "{screen:?}");
    let (_, screen) = Terminal::start(&cli, &["wait", "x"], &[("NO_COLOR", "1")]).end();
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}

#[test]
fn what_takes_long_shows_what_is_running() {
    let cli = Cli::new();
    let program =
        "await tools.exec({ command: 'until test -e go; do sleep 0.05; done' }); return 'over'";
    let terminal = Terminal::start(&cli, &["exec", "--approve", "always", program], &[]);
    terminal.wait_for("exec running");
    cli.env.write("go", "").unwrap();
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("over"), "{screen}");
}
