//! The pictures of the README and the docs, made by the program itself.

use crate::{Done, root};
use dwell::store::{Leftovers, Output};
use dwell::{
    Buffers, Cancel, CpuEngine, Format, Limits, Location, Palette, Plan, Progress, Request, Settings, Size, Strategy,
};

/// A picture to make.
struct Picture {
    file: &'static str,
    location: &'static str,
    palette: &'static str,
    size: Size,
    limit: u32,
}

const PICTURES: [Picture; 2] = [
    Picture {
        file: "docs/seahorse.png",
        location: "shallow-seahorse-1e13",
        palette: "twilight",
        size: Size { width: 1200, height: 600 },
        limit: 20_000,
    },
    Picture {
        file: "docs/home.png",
        location: "shallow-home",
        palette: "twilight",
        size: Size { width: 960, height: 540 },
        limit: 1000,
    },
];

pub(crate) fn write() -> Done {
    for Picture { file, location, palette, size, limit } in PICTURES {
        let view = Location::built_in(location)?.view(size);
        let settings = Settings { limit, ..Settings::default() };
        let plan = Plan::new(&view, &settings, &Limits::default())?;
        let request = Request {
            plan: &plan,
            engine: &CpuEngine::default(),
            strategy: Strategy::EveryPixel,
            verify: false,
            palette: &Palette::built_in(palette)?,
            hash: false,
            watched: false,
            cancel: &Cancel::default(),
            progress: &Progress::default(),
        };
        let output = Output::create(&root().join(file), false, &Leftovers::default())?;
        dwell::render(&request, vec![(Format::Png, output)], &mut Buffers::default())?;
        println!("{file}");
    }
    Ok(())
}
