//! The command line.

use super::Outcome;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Options {
    /// Where files go.
    pub out: PathBuf,
    /// Seconds for everything.
    pub seconds: f64,
    /// Levels of the ladder.
    pub levels: Vec<u32>,
    /// Sections; none: all.
    pub sections: Vec<String>,
    /// Timed repetitions, or launches of `--only`.
    pub repeat: usize,
    /// Milliseconds of pause between repetitions.
    pub pause: u64,
    /// The one kernel to launch, and at which level.
    pub only: Option<String>,
    pub level: u32,
    /// Count instead, at this level.
    pub counts: Option<u32>,
    pub list: bool,
    pub device: usize,
    /// The folder of golden cases.
    pub golden: PathBuf,
}

impl Options {
    pub fn of_arguments() -> Outcome<Self> {
        let mut options = Options {
            out: "out/h200".into(),
            seconds: 480.0,
            levels: vec![8, 7, 6, 5],
            sections: Vec::new(),
            repeat: 0,
            pause: 15,
            only: None,
            level: 6,
            counts: None,
            list: false,
            device: 0,
            golden: "tests/golden".into(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
            let list = |text: String| text.split(',').map(str::to_string).collect::<Vec<_>>();
            match flag.as_str() {
                "--out" => options.out = value()?.into(),
                "--seconds" => options.seconds = value()?.parse()?,
                "--levels" => {
                    options.levels = list(value()?).iter().map(|level| level.parse()).collect::<Result<_, _>>()?;
                }
                "--sections" => options.sections = list(value()?),
                "--repeat" => options.repeat = value()?.parse::<usize>()?.max(1),
                "--pause" => options.pause = value()?.parse()?,
                "--only" => options.only = Some(value()?),
                "--level" => options.level = value()?.parse()?,
                "--counts" => options.counts = Some(value()?.parse()?),
                "--list" => options.list = true,
                "--device" => options.device = value()?.parse()?,
                "--golden" => options.golden = value()?.into(),
                _ => return Err(format!("there is no flag {flag}; see the top of main.rs").into()),
            }
        }
        if options.repeat == 0 {
            options.repeat = if options.only.is_some() { 1 } else { 9 };
        }
        if !(options.seconds > 0.0 && options.seconds < 1e6) {
            return Err("--seconds must be a positive number".into());
        }
        if let Some(unknown) = options.sections.iter().find(|name| !super::SECTIONS.iter().any(|s| s.0 == **name)) {
            let known: Vec<_> = super::SECTIONS.iter().map(|section| section.0).collect();
            return Err(format!("there is no section {unknown}; possible are {}", known.join(", ")).into());
        }
        std::fs::create_dir_all(&options.out)?;
        Ok(options)
    }
}
