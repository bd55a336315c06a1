//! Renders on a simulated disk that fails and loses power. In every case each file is the old one or the new one, and the same
//! call resumes and gives the same bytes.

use super::*;
use crate::base::cancel::Cancel;
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::colour::{By, Palette, Scale};
use crate::colour::{Colouring, Depth};
use crate::iterate::cpu::CpuEngine;
use crate::iterate::engine::Control;
use crate::iterate::tiles::TileSize;
use crate::render::journal::Journaling;
use crate::render::request::Paint;
use crate::scene::Scene;
use crate::store::faulty::{Fault, FaultyDisk};
use crate::store::{Disk, PartialFiles};
use crate::{Level, Plan, Settings, Strategy, View};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A render of a scene into some formats on a simulated disk.
struct Trial {
    scene: Scene,
    formats: Vec<Format>,
    /// Samples of a band.
    band_samples: u64,
    /// Maximum bytes of a field that is kept.
    max_kept_bytes: u64,
    no_clobber: bool,
}

const OLD: &[u8] = b"an older picture";

impl Trial {
    fn new(by: By, scale: Scale, strategy: Strategy, formats: &[Format]) -> Self {
        let size = Size::new(40, 130).unwrap();
        let mut scene = Scene {
            view: View::centred("-0.6", "0.03", "1").unwrap().sized(size),
            settings: Settings { limit: 60, ..Settings::default() },
            strategy,
            ..Scene::default()
        };
        scene.colouring = Colouring { by, scale, ..Colouring::of(Palette::default()) };
        Self { scene, formats: formats.to_vec(), band_samples: 40 * 64, max_kept_bytes: 0, no_clobber: false }
    }

    fn path(&self, i: usize) -> String {
        format!("/{i}.{}", self.formats[i].name())
    }

    fn run(&self, disk: &FaultyDisk, threads: usize, fresh: bool) -> Result<Report, Error> {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let outputs = (0..self.formats.len())
            .map(|i| {
                let path = self.path(i);
                let path = Path::new(&path);
                Output::beside(disk.clone(), path, path, self.no_clobber, &PartialFiles::default())
            })
            .collect::<Result<Vec<_>, _>>()?;
        let plan = Plan::new(&self.scene.view, &self.scene.settings, &Limits::default()).unwrap();
        let tile = (!self.scene.strategy.is_exact()).then_some(TileSize { width: 16, height: 12 });
        let engine = CpuEngine::new(Level::best(), threads).with_tile(tile);
        let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
        let request = Request {
            plan: &plan,
            engine: &engine,
            strategy: self.scene.strategy,
            verify: false,
            paint: Paint { colouring: &self.scene.colouring, samples: 1, depth: Depth::Eight, text: "a = 1" },
            hash: true,
            // Several entries in each run. Their positions depend on the clock; the resumed render must not.
            journaling: Some(Journaling { interval: Duration::from_micros(200), fresh }),
            limits: Limits::default(),
            watched: false,
            control,
        };
        let layout = Layout::of(&request, &self.formats, self.band_samples, self.max_kept_bytes);
        Session::render(&layout, &request, &self.formats, outputs, &mut Scratch::default())
    }

    fn files(&self, disk: &FaultyDisk) -> Vec<Option<Vec<u8>>> {
        (0..self.formats.len()).map(|i| disk.contents(Path::new(&self.path(i)))).collect()
    }

    /// The files of a run without faults, the number of its disk operations, and the hash of its field.
    fn undisturbed(&self) -> (Vec<Option<Vec<u8>>>, u64, String) {
        let disk = FaultyDisk::default();
        let report = self.run(&disk, 2, false).unwrap();
        assert_eq!(disk.names().len(), self.formats.len(), "other files are left: {:?}", disk.names());
        println!("{} operations", disk.operations());
        (self.files(&disk), disk.operations(), report.field_blake3.unwrap())
    }

    /// A disk on which older files have the names of the outputs, unless they are not to be replaced.
    fn with_old(&self) -> FaultyDisk {
        let disk = FaultyDisk::default();
        if !self.no_clobber {
            (0..self.formats.len()).for_each(|i| disk.put(Path::new(&self.path(i)), OLD));
        }
        disk
    }

    /// Whether a further run is refused: an output exists that is not to be replaced, and there is no journal by which it
    /// belongs to this render.
    fn is_refused(&self, disk: &FaultyDisk) -> bool {
        self.no_clobber && self.files(disk).iter().any(Option::is_some) && !has_journal(disk)
    }

    /// Checks that each file is the old one or the new one.
    fn check(&self, disk: &FaultyDisk, new: &[Option<Vec<u8>>], when: &str) {
        for (i, (found, new)) in self.files(disk).iter().zip(new).enumerate() {
            let old = if self.no_clobber { found.is_none() } else { found.as_deref() == Some(OLD) };
            assert!(old || found == new, "file {i} is neither the new nor the old one, {when}");
        }
    }

    /// Checks that the same call resumes to the same bytes and leaves no other file.
    fn check_resumes(&self, disk: &FaultyDisk, new: &[Option<Vec<u8>>], hash: &str, when: &str) {
        let report = self.run(disk, 1, false).unwrap_or_else(|e| panic!("{e}, {when}"));
        assert!(self.files(disk) == new, "other bytes, {when}");
        assert_eq!(report.field_blake3.as_deref(), Some(hash), "{when}");
        assert_eq!(disk.names().len(), self.formats.len(), "{:?}, {when}", disk.names());
    }
}

fn trials() -> Vec<Trial> {
    let exact = Strategy::EveryPixel;
    let mut kept = Trial::new(By::Smooth, Scale::Histogram, exact, &[Format::Png]);
    kept.max_kept_bytes = u64::MAX;
    vec![
        Trial::new(By::Smooth, Scale::Root, exact, &[Format::Png]),
        Trial::new(By::Banded, Scale::Linear, Strategy::MarianiSilver, &[Format::Png, Format::Npy]),
        Trial::new(By::Smooth, Scale::Histogram, exact, &[Format::Ppm]),
        kept,
        Trial { no_clobber: true, ..Trial::new(By::Distance, Scale::Log, exact, &[Format::Csv, Format::Png]) },
    ]
}

fn generator(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    }
}

/// The factor by which tests are repeated, from the environment variable `DWELL_SOAK`; 1 by default.
fn soak() -> u64 {
    std::env::var("DWELL_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
fn a_loss_of_power_at_any_moment_loses_no_file() {
    let mut images = 0;
    for (t, trial) in trials().iter().enumerate() {
        let (new, operations, hash) = trial.undisturbed();
        for moment in 0..operations {
            for run in 0..3 * soak() {
                let when = format!("trial {t}, moment {moment} of {operations}, run {run}");
                let mut random = generator(moment * 1000 + run);
                let disk = trial.with_old();
                disk.set(Fault::Power(moment));
                let _ = trial.run(&disk, 1 + moment as usize % 2, false);
                disk.reboot(&mut random);
                trial.check(&disk, &new, &when);
                // In a third of the cases the power fails again while the render resumes.
                if random(3) == 0 && !trial.is_refused(&disk) {
                    disk.set(Fault::Power(random(operations as usize) as u64));
                    let _ = trial.run(&disk, 1, false);
                    disk.reboot(&mut random);
                    trial.check(&disk, &new, &when);
                }
                if trial.is_refused(&disk) {
                    continue;
                }
                trial.check_resumes(&disk, &new, &hash, &when);
                images += 1;
            }
        }
    }
    println!("{images} images after a loss of power");
}

fn has_journal(disk: &FaultyDisk) -> bool {
    disk.names().iter().any(|name| name.to_string_lossy().ends_with(crate::store::JOURNAL))
}

#[test]
fn a_failing_operation_is_reported_with_its_file_and_loses_no_file() {
    let kinds =
        [io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied, io::ErrorKind::Interrupted, io::ErrorKind::Other];
    let mut faults = 0;
    for (t, trial) in trials().iter().enumerate() {
        let (new, operations, hash) = trial.undisturbed();
        for at in 0..operations {
            let kind = kinds[at as usize % kinds.len()];
            for lasting in [false, true] {
                let when = format!("trial {t}, operation {at} of {operations}, {kind:?}, lasting {lasting}");
                let disk = trial.with_old();
                disk.set(Fault::Error { at, lasting, kind });
                if let Err(error) = trial.run(&disk, 1, false) {
                    assert!(matches!(error, Error::Write { .. } | Error::Input(_)), "{error}, {when}");
                    assert!(error.to_string().contains('/'), "it names the file: {error}, {when}");
                }
                disk.restart();
                trial.check(&disk, &new, &when);
                if !trial.is_refused(&disk) {
                    trial.check_resumes(&disk, &new, &hash, &when);
                }
                faults += 1;
            }
        }
    }
    println!("{faults} failing operations");
}

#[test]
fn journals_with_other_parameters_or_damage_are_refused_unless_fresh() {
    let trial = Trial::new(By::Smooth, Scale::Root, Strategy::EveryPixel, &[Format::Png]);
    let (new, operations, hash) = trial.undisturbed();
    let broken = || {
        let disk = trial.with_old();
        // The first moment at which there is an entry depends on the clock.
        for at in 10.. {
            disk.set(Fault::Power(at));
            let failed = trial.run(&disk, 2, false).is_err();
            disk.restart();
            if failed && has_journal(&disk) {
                break;
            }
            assert!(at < 10 * operations, "there is never an entry");
        }
        disk
    };
    let disk = broken();
    let other = Trial { formats: vec![Format::Png], ..Trial::new(By::Banded, Scale::Root, Strategy::EveryPixel, &[]) };
    // The text of this trial is the same. Formats and names are part of the identity of a render, too.
    let renamed = Trial { formats: vec![Format::Png, Format::Npy], ..other };
    let error = renamed.run(&disk, 2, false).unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
    assert!(error.to_string().contains("outputs was"), "{error}");
    trial.check_resumes(&disk, &new, &hash, "after a refusal");

    let journal = Path::new("/0.png.dwell-journal");
    for damage in [0, 20, 100, usize::MAX] {
        let disk = broken();
        let mut bytes = disk.contents(journal).unwrap();
        let at = damage.min(bytes.len() - 1);
        bytes[at] ^= 1;
        disk.put(journal, &bytes);
        let error = trial.run(&disk, 2, false).unwrap_err();
        assert!(matches!(error, Error::Input(_)) && error.to_string().contains("dwell-journal"), "{error}");
        if damage > 0 {
            assert!(trial.run(&disk, 2, true).is_ok());
            assert!(trial.files(&disk) == new);
        }
    }
}
