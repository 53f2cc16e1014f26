//! Libraries that stand in for a vendor's, built from C.
//!
//! A process has one library of a name, so each scenario runs in a process of its own: the test binary's test `child`,
//! which looks at [`SCENARIO`].

use std::path::Path;
use std::process::Command;

/// The variable that names the scenario of a child process.
pub const SCENARIO: &str = "FARRO_TEST_SCENARIO";

/// Builds `source` under the `names`, and runs a scenario in a process that finds them in the folder that `variable`
/// names. Gives what the scenario printed; `None`, with a word to the reader of the log, where that cannot be done.
pub fn run(
    source: &Path,
    names: &[&str],
    variable: &str,
    scenario: &str,
    variables: &[(&str, &str)],
) -> Option<String> {
    if !cfg!(target_os = "linux") {
        println!("skipped: {scenario}: the stand-in is built for Linux only");
        return None;
    }
    let folder = std::env::temp_dir().join(format!("farro-stand-in-{}-{scenario}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    for name in names {
        let built = Command::new(&compiler)
            .args(["-shared", "-fPIC", "-w", &format!("-Wl,-soname,{}", names[0]), "-o"])
            .args([&folder.join(name), source])
            .status();
        if !built.is_ok_and(|status| status.success()) {
            println!("skipped: {scenario}: no C compiler `{compiler}`");
            return None;
        }
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(variable, &folder)
        .env(SCENARIO, scenario)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{scenario}: {text}");
    println!("{text}");
    Some(text)
}
