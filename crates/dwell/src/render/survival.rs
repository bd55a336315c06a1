//! Renders on a simulated disk that fails and loses power. In every case each file is the old one or the new one, and the same
//! call resumes and gives the same bytes.

use super::*;
use crate::base::cancel::Cancel;
use crate::base::control::Control;
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::colour::{By, Colouring, Layer, LayerContent, Palette, Quantity, Scale};
use crate::iterate::cpu::CpuEngine;
use crate::iterate::tiles::TileSize;
use crate::render::journal::Journaling;
use crate::render::request::Paint;
use crate::scene::Scene;
use crate::store::faulty::{Fault, FaultyDisk, Kind};
use crate::store::{Disk, Fingerprinter, PartialFiles};
use crate::{Level, Plan, Settings, Strategy, View};
use std::io;
use std::path::{Path, PathBuf};
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
    /// Whether the render has a sidecar, with the hash of its field.
    has_sidecar: bool,
    /// The names of the outputs without their endings, `i` for output i; two trials may share some.
    names: Vec<String>,
    /// The names of partial files that are to be removed if the program ends at once.
    partial_files: PartialFiles,
}

/// The width of a picture: of three bands of 64 rows, narrow, since thousands of them are rendered.
const WIDTH: u32 = 12;

const OLD: &[u8] = b"an older picture";

impl Trial {
    fn new(by: By, scale: Scale, strategy: Strategy, formats: &[Format]) -> Self {
        let size = Size::new(WIDTH, 130).unwrap();
        let mut scene = Scene {
            view: View::centred("-0.6", "0.03", "1").unwrap().sized(size),
            settings: Settings { limit: 60, ..Settings::default() },
            strategy,
            samples: Samples::Fixed(1),
            dither: false,
            ..Scene::default()
        };
        scene.colouring = Colouring { by, scale, ..Colouring::of(Palette::default()) };
        let names = (0..formats.len()).map(|i| i.to_string()).collect();
        let formats = formats.to_vec();
        let partial_files = PartialFiles::default();
        Self {
            scene,
            formats,
            band_samples: u64::from(WIDTH) * 64,
            max_kept_bytes: 0,
            no_clobber: false,
            has_sidecar: false,
            names,
            partial_files,
        }
    }

    /// The number of files: the outputs and the sidecar.
    fn count(&self) -> usize {
        self.formats.len() + usize::from(self.has_sidecar)
    }

    /// The path of file `i`; the sidecar is the last.
    fn path(&self, i: usize) -> String {
        match self.formats.get(i) {
            Some(format) => format!("/{}.{}", self.names[i], format.name()),
            None => format!("/{}.json", self.names[0]),
        }
    }

    fn run(&self, disk: &FaultyDisk, threads: usize, fresh: bool) -> Result<Report, Error> {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let output = |i| {
            let path = self.path(i);
            let path = Path::new(&path);
            Output::beside(disk.clone(), path, path, self.no_clobber, &self.partial_files)
        };
        let outputs = (0..self.formats.len()).map(output).collect::<Result<Vec<_>, _>>()?;
        let sidecar = self.has_sidecar.then(|| output(self.formats.len())).transpose()?;
        let describe = |report: &mut Report| Ok(report.field_blake3.clone().unwrap_or_default().into_bytes());
        let sidecar = sidecar.map(|output| Sidecar::new(output, describe));
        let mut plan = Plan::new(&self.scene.view, &self.scene.settings, &Limits::default()).unwrap();
        if self.scene.samples == Samples::Auto {
            plan = plan.with_finer_points(&Limits::default()).unwrap();
        }
        let tile = (!self.scene.strategy.is_exact()).then_some(TileSize { width: 16, height: 12 });
        let engine = CpuEngine::new(Level::best(), threads).with_tile(tile);
        let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
        let request = Request {
            plan: &plan,
            engine: &engine,
            strategy: self.scene.strategy,
            verify: false,
            paint: Paint::of(&self.scene, "a = 1"),
            hash: true,
            // Several entries in each run. Their positions depend on the clock; the resumed render must not.
            journaling: Some(Journaling {
                interval: Some(Duration::from_micros(50)),
                fresh,
                protected: Duration::ZERO,
            }),
            limits: Limits::default(),
            watched: false,
            control,
        };
        let layout = Layout::of(&request, &self.formats, self.band_samples, self.max_kept_bytes);
        Session::render(&layout, &request, &self.formats, outputs, sidecar, &mut Scratch::default())
    }

    fn files(&self, disk: &FaultyDisk) -> Vec<Option<Vec<u8>>> {
        (0..self.count()).map(|i| disk.contents(Path::new(&self.path(i)))).collect()
    }

    /// The files of a run without faults, the number of its disk operations, and the hash of its field.
    fn undisturbed(&self) -> (Vec<Option<Vec<u8>>>, u64, String) {
        let disk = FaultyDisk::default();
        let report = self.run(&disk, 2, false).unwrap();
        assert_eq!(disk.names().len(), self.count(), "other files are left: {:?}", disk.names());
        (self.files(&disk), disk.operations(), report.field_blake3.unwrap())
    }

    /// A disk on which older files have the names of the outputs, unless they are not to be replaced.
    fn with_old(&self) -> FaultyDisk {
        let disk = FaultyDisk::default();
        if !self.no_clobber {
            (0..self.count()).for_each(|i| disk.put(Path::new(&self.path(i)), OLD));
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
        assert_eq!(self.others(disk), [""; 0], "{when}");
    }

    /// The names of files that are no outputs.
    fn others(&self, disk: &FaultyDisk) -> Vec<String> {
        let outputs: Vec<String> = (0..self.count()).map(|i| self.path(i)).collect();
        let names = disk.names().into_iter().map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| !outputs.contains(name)).collect()
    }

    /// A disk, `new` before, after a run that was killed when the journal had a state, at the given moment or later.
    fn killed_with_a_state(&self, new: impl Fn() -> FaultyDisk, moment: u64) -> FaultyDisk {
        let (_, operations, _) = self.undisturbed();
        // The operations at which there is an entry depend on the clock.
        for at in (moment..moment + 1000).map(|moment| 5 + moment % (operations - 5)) {
            let disk = new();
            disk.set(Fault::Power(at));
            let failed = self.run(&disk, 2, false).is_err();
            disk.restart();
            let journal = disk.contents(&self.journal()).unwrap_or_default();
            if failed && journal.starts_with(b"dwell journal 5") {
                return disk;
            }
        }
        panic!("there is never an entry");
    }

    fn journal(&self) -> PathBuf {
        format!("{}{}", self.path(0), crate::store::JOURNAL).into()
    }

    fn partials(&self, disk: &FaultyDisk) -> Vec<PathBuf> {
        disk.names().into_iter().filter(|name| name.to_string_lossy().ends_with(".dwell-partial")).collect()
    }
}

fn trials() -> Vec<Trial> {
    let exact = Strategy::EveryPixel;
    let mut kept = Trial::new(By::Smooth, Scale::Histogram, exact, &[Format::Png]);
    kept.max_kept_bytes = u64::MAX;
    // With values of several channels in the journal.
    let mut layered = Trial::new(By::Distance, Scale::Log, exact, &[Format::Csv, Format::Png]);
    let periods = Layer::of(LayerContent::gradient(Quantity::Period, Palette::default()));
    layered.scene.colouring.layers = vec![Layer::slope(), periods];
    // More samples for pixels that differ from the rows above and below them.
    let refined = |strategy, formats: &[Format]| {
        let mut trial = Trial::new(By::Smooth, Scale::Root, strategy, formats);
        (trial.scene.samples, trial.scene.dither) = (Samples::Auto, true);
        trial
    };
    let with_sidecar = |trial| Trial { has_sidecar: true, ..trial };
    vec![
        refined(exact, &[Format::Png, Format::Npy]),
        refined(Strategy::MarianiSilver, &[Format::Ppm]),
        with_sidecar(Trial::new(By::Smooth, Scale::Root, exact, &[Format::Png])),
        Trial::new(By::Banded, Scale::Linear, Strategy::MarianiSilver, &[Format::Png, Format::Npy]),
        Trial::new(By::Smooth, Scale::Histogram, exact, &[Format::Ppm]),
        with_sidecar(kept),
        with_sidecar(Trial { no_clobber: true, ..layered }),
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

/// A band that holds the whole image has no copy of the rows that are mirrored. Where smaller bands of an earlier process held some of them, their images are computed.
#[test]
fn a_render_of_one_band_continues_one_of_several_with_mirrored_rows() {
    let mut continued = 0;
    for (strategy, format) in [(Strategy::EveryPixel, Format::Npy), (Strategy::MarianiSilver, Format::Csv)] {
        let mut trial = Trial::new(By::Smooth, Scale::Root, strategy, &[format]);
        trial.scene.view = View::centred("-0.6", "0", "1").unwrap().sized(trial.scene.view.size);
        let (new, operations, hash) = trial.undisturbed();
        for moment in (0..operations).step_by(2) {
            let disk = trial.killed_with_a_state(FaultyDisk::default, moment);
            let partials = trial.partials(&disk);
            let written = partials.iter().filter_map(|path| disk.contents(path)).map(|file| file.len());
            continued += usize::from(written.max().is_some_and(|bytes| bytes > new[0].as_ref().unwrap().len() / 4));
            let whole = u64::from(WIDTH) * 130;
            let one_band = Trial {
                band_samples: whole,
                scene: trial.scene.clone(),
                ..Trial::new(By::Smooth, Scale::Root, strategy, &[format])
            };
            one_band.check_resumes(&disk, &new, &hash, &format!("{strategy:?}, moment {moment}"));
        }
    }
    assert!(continued > 4, "{continued}");
}

#[test]
fn a_loss_of_power_at_any_moment_loses_no_file() {
    let mut images = 0;
    for (t, trial) in trials().iter().enumerate() {
        let (new, operations, hash) = trial.undisturbed();
        for moment in 0..operations {
            for run in 0..soak() {
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
                // A loss of power before the first entry may leave a partial file that no journal names.
                let journal = disk.contents(&trial.journal()).unwrap_or_default();
                let whole = journal.split_last_chunk::<32>().filter(|(body, hash)| blake3::hash(body) == **hash);
                let journal = whole.map_or(String::new(), |(body, _)| String::from_utf8_lossy(body).into_owned());
                let is_named = |path: &PathBuf| journal.contains(&*path.file_name().unwrap().to_string_lossy());
                let orphans: Vec<_> = trial.partials(&disk).into_iter().filter(|path| !is_named(path)).collect();
                let report = trial.run(&disk, 1, false).unwrap_or_else(|e| panic!("{e}, {when}"));
                assert!(trial.files(&disk) == new, "other bytes, {when}");
                assert_eq!(report.field_blake3.as_deref(), Some(hash.as_str()), "{when}");
                let others = trial.others(&disk);
                let is_orphan = |name: &String| orphans.contains(&PathBuf::from(name)) || name.ends_with("-new");
                assert!(others.iter().all(is_orphan), "{others:?}, {when}");
                images += 1;
            }
        }
    }
    println!("soak: {images} images after a loss of power");
}

fn fingerprint(bytes: &[u8]) -> String {
    let mut state = Fingerprinter::new();
    state.update(bytes);
    state.value().to_string()
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
    println!("soak: {faults} failing operations");
}

#[test]
fn journals_with_other_parameters_or_damage_are_refused_unless_fresh() {
    let trial = Trial::new(By::Smooth, Scale::Root, Strategy::EveryPixel, &[Format::Png]);
    let (new, _, hash) = trial.undisturbed();
    let broken = || trial.killed_with_a_state(|| trial.with_old(), 10);
    let disk = broken();
    let other = Trial { formats: vec![Format::Png], ..Trial::new(By::Banded, Scale::Root, Strategy::EveryPixel, &[]) };
    // The text of this trial is the same. Formats and names are part of the identity of a render, too.
    let names = vec!["0".to_owned(), "1".to_owned()];
    let renamed = Trial { formats: vec![Format::Png, Format::Npy], names, ..other };
    let error = renamed.run(&disk, 2, false).unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
    assert!(error.to_string().contains("outputs was"), "{error}");
    trial.check_resumes(&disk, &new, &hash, "after a refusal");

    for damage in [0, 20, 100, usize::MAX] {
        let disk = broken();
        let mut bytes = disk.contents(&trial.journal()).unwrap();
        let at = damage.min(bytes.len() - 1);
        bytes[at] ^= 1;
        disk.put(&trial.journal(), &bytes);
        let error = trial.run(&disk, 2, false).unwrap_err();
        assert!(matches!(error, Error::Input(_)) && error.to_string().contains("dwell-journal"), "{error}");
        if damage > 0 {
            assert!(trial.run(&disk, 2, true).is_ok());
            assert!(trial.files(&disk) == new);
        }
    }
}

#[test]
fn changed_partial_files_are_rendered_again() {
    let mut changes = 0;
    for (t, trial) in trials().iter().enumerate() {
        let (new, operations, hash) = trial.undisturbed();
        let mut random = generator(t as u64);
        for moment in (5..operations).step_by(3) {
            let disk = trial.killed_with_a_state(|| trial.with_old(), moment);
            let partials = trial.partials(&disk);
            if partials.is_empty() {
                continue;
            }
            let partial = &partials[random(partials.len())];
            let mut bytes = disk.contents(partial).unwrap();
            let kind = random(5);
            let at = random(bytes.len());
            match kind {
                0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << random(8),
                2 => bytes.truncate(at),
                3 => bytes.iter_mut().for_each(|byte| *byte = 0),
                _ => bytes.clear(),
            }
            disk.put_kind(partial, &bytes, if random(8) == 0 { Kind::Foreign } else { Kind::Own });
            let when = format!("trial {t}, moment {moment}, change {kind} at {at}");
            if trial.no_clobber && trial.files(&disk).iter().any(Option::is_some) {
                // One file is published and the other is lost. It is not rendered again beside the first.
                assert!(matches!(trial.run(&disk, 1, false), Ok(_) | Err(Error::Input(_))), "{when}");
                continue;
            }
            let report = trial.run(&disk, 1, false).unwrap_or_else(|e| panic!("{e}, {when}"));
            assert!(trial.files(&disk) == new, "other bytes, {when}");
            assert_eq!(report.field_blake3.as_ref(), Some(&hash), "{when}");
            let published: Vec<String> = report.outputs.iter().map(|output| output.xxh3_128.clone()).collect();
            let files = trial.files(&disk).into_iter().take(trial.formats.len()).flatten();
            assert_eq!(published, files.map(|file| fingerprint(&file)).collect::<Vec<_>>(), "{when}");
            // A foreign file of the name is left alone.
            assert!(trial.others(&disk).len() <= 1, "{:?}, {when}", trial.others(&disk));
            changes += 1;
        }
    }
    println!("soak: {changes} changed partial files");
}

#[test]
fn two_renders_that_share_an_output_do_not_mix() {
    let mut random = generator(3);
    let first = Trial::new(By::Smooth, Scale::Root, Strategy::EveryPixel, &[Format::Png, Format::Npy]);
    let mut second = Trial::new(By::Banded, Scale::Linear, Strategy::EveryPixel, &[Format::Ppm, Format::Npy]);
    second.names = vec!["other".to_owned(), "1".to_owned()];
    second.scene.settings.limit = 90;
    let (new, operations, hash) = first.undisturbed();
    let (other, _, _) = second.undisturbed();
    for lockless in [false, true] {
        for run in 0..60 {
            let when = format!("run {run}, lockless {lockless}");
            let disk = FaultyDisk::default();
            if lockless {
                disk.without_locks();
            }
            for trial in [&first, &second, &first] {
                disk.set(Fault::Power(random(operations as usize) as u64));
                let _ = trial.run(&disk, 2, false);
                disk.restart();
            }
            let done = second.run(&disk, 1, false).map(drop);
            assert!(done.is_ok() && second.files(&disk) == other, "{done:?}, {when}");
            first.run(&disk, 1, false).unwrap_or_else(|e| panic!("{e}, {when}"));
            assert!(first.files(&disk) == new, "{when}");
            let report = first.run(&disk, 1, false).unwrap();
            assert_eq!(report.field_blake3.as_ref(), Some(&hash), "{when}");
            // A kill while a file is copied, because there are no locks, leaves the copy.
            assert!(lockless || disk.names().len() == 3, "{:?}, {when}", disk.names());
        }
    }
}

#[test]
fn without_locks_a_process_that_still_writes_changes_nothing() {
    let trial = Trial::new(By::Smooth, Scale::Root, Strategy::EveryPixel, &[Format::Png]);
    let (new, _, hash) = trial.undisturbed();
    let lockless = || {
        let disk = FaultyDisk::default();
        disk.without_locks();
        disk
    };
    let disk = trial.killed_with_a_state(lockless, 10);
    let storage: Arc<dyn Disk> = Arc::new(disk.clone());
    let partial = trial.partials(&disk).remove(0);
    let mut alive = storage.open(&partial).unwrap().unwrap();
    trial.check_resumes(&disk, &new, &hash, "while another process writes");
    alive.append(b"more").unwrap();
    assert!(trial.files(&disk) == new);
}

#[test]
fn a_lost_file_of_a_complete_render_is_rendered_again() {
    let formats = [Format::Png, Format::Npy, Format::Ppm];
    let trial = Trial::new(By::Smooth, Scale::Root, Strategy::EveryPixel, &formats);
    let (new, operations, hash) = trial.undisturbed();
    let mut seen = 0;
    for at in 10..operations {
        let disk = trial.with_old();
        disk.set(Fault::Error { at, lasting: true, kind: io::ErrorKind::PermissionDenied });
        if trial.run(&disk, 1, false).is_ok() {
            continue;
        }
        disk.restart();
        let published = trial.files(&disk).iter().filter(|file| file.as_deref() != Some(OLD)).count();
        if !has_journal(&disk) || published == 0 {
            continue;
        }
        // A signal would remove nothing that the next run needs.
        assert!(trial.partial_files.is_empty(), "operation {at}");
        for lost in trial.partials(&disk) {
            let id = disk.id(&lost);
            Disk::remove(&disk, &lost, id).unwrap();
        }
        trial.check_resumes(&disk, &new, &hash, &format!("operation {at}, {published} of 3 published"));
        seen += 1;
    }
    // How many operations come before the entries depends on the clock.
    assert!(seen >= 1);
}

#[test]
fn foreign_files_in_the_way_are_left_alone() {
    let trial = Trial::new(By::Smooth, Scale::Root, Strategy::EveryPixel, &[Format::Png]);
    for (path, fresh) in [(trial.journal(), false), (trial.journal(), true), (PathBuf::from(trial.path(0)), false)] {
        let disk = FaultyDisk::default();
        disk.put_kind(&path, b"foreign", Kind::Foreign);
        let error = trial.run(&disk, 1, fresh).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        assert_eq!(disk.contents(&path).as_deref(), Some(&b"foreign"[..]));
        assert!(path != trial.journal() || disk.names() == [path]);
    }
}
