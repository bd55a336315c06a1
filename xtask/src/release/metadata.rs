//! The crates that the program is made from, by `cargo metadata`.

use crate::cargo;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The packages of a checkout for one target, and which depends on which.
#[derive(Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

/// A package.
#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    /// Its name.
    pub(super) name: String,
    /// Its version.
    pub(super) version: String,
    /// The SPDX expression of its licences.
    pub(super) license: Option<String>,
    /// Its licence file, relative to its folder, when the manifest names one.
    pub(super) license_file: Option<PathBuf>,
    /// Its authors, of which the manifest may name none.
    pub(super) authors: Vec<String>,
    /// Where its sources are published.
    pub(super) repository: Option<String>,
    /// Where its manifest is.
    manifest_path: PathBuf,
    /// Its registry; a package of the checkout has none.
    source: Option<String>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

/// `None` is an ordinary dependency, the others are "build" and "dev".
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Package {
    /// The folder of its sources.
    pub(super) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    fn is_procedural_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }
}

impl Metadata {
    /// Of a checkout, for one target.
    pub(super) fn of(checkout: &Path, target: &str) -> super::Result<Self> {
        let args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
        Ok(serde_json::from_str(&super::output(cargo().args(args).current_dir(checkout))?)?)
    }

    /// The version of a package of the checkout.
    pub(super) fn version_of(&self, name: &str) -> super::Result<&str> {
        let package = self.packages.iter().find(|package| package.source.is_none() && package.name == name);
        Ok(&package.ok_or_else(|| format!("no package is named {name}"))?.version)
    }

    /// The folders that hold the sources of packages from registries.
    pub(super) fn registry_folders(&self) -> BTreeSet<PathBuf> {
        let packages = self.packages.iter().filter(|package| package.source.is_some());
        packages.filter_map(|package| package.folder().parent()).map(Path::to_owned).collect()
    }

    /// The packages from registries that are linked into a package of the checkout, by name and version. Procedural
    /// macros and dependencies of build scripts run in the compiler only. Features are those of the whole workspace, so
    /// that a package may be listed that only a feature of another program needs.
    pub(super) fn linked_into(&self, name: &str) -> super::Result<Vec<&Package>> {
        let packages: BTreeMap<&str, &Package> = self.packages.iter().map(|p| (p.id.as_str(), p)).collect();
        let nodes: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
        let start = self.packages.iter().find(|package| package.source.is_none() && package.name == name);
        let mut open = vec![start.ok_or_else(|| format!("no package is named {name}"))?.id.as_str()];
        let mut linked = BTreeMap::new();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else {
                return Err(format!("cargo metadata lacks {id}").into());
            };
            if package.is_procedural_macro() || !seen.insert(id) {
                continue;
            }
            if package.source.is_some() {
                linked.insert((&package.name, &package.version), *package);
            }
            let ordinary = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
            open.extend(node.deps.iter().filter(ordinary).map(|dependency| dependency.pkg.as_str()));
        }
        Ok(linked.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(id: &str, source: Option<&str>, kind: &str) -> Package {
        Package {
            id: id.to_owned(),
            name: id.to_owned(),
            version: "1.0.0".to_owned(),
            license: None,
            license_file: None,
            authors: Vec::new(),
            repository: None,
            manifest_path: PathBuf::from(format!("/registry/{id}/Cargo.toml")),
            source: source.map(str::to_owned),
            targets: vec![Target { kind: vec![kind.to_owned()] }],
        }
    }

    fn node(id: &str, deps: &[(&str, Option<&str>)]) -> Node {
        let deps = deps.iter().map(|(pkg, kind)| Dependency {
            pkg: (*pkg).to_owned(),
            dep_kinds: vec![Kind { kind: kind.map(str::to_owned) }],
        });
        Node { id: id.to_owned(), deps: deps.collect() }
    }

    #[test]
    fn only_what_is_linked_is_listed() {
        let registry = Some("registry");
        let metadata = Metadata {
            packages: vec![
                package("program", None, "bin"),
                package("library", registry, "lib"),
                package("below", registry, "lib"),
                package("derive", registry, "proc-macro"),
                package("of-derive", registry, "lib"),
                package("of-build", registry, "lib"),
                package("of-tests", registry, "lib"),
            ],
            resolve: Resolve {
                nodes: vec![
                    node("program", &[("library", None), ("derive", None), ("of-tests", Some("dev"))]),
                    node("library", &[("below", None), ("of-build", Some("build"))]),
                    node("below", &[]),
                    node("derive", &[("of-derive", None)]),
                ],
            },
        };
        let linked = metadata.linked_into("program").unwrap();
        assert_eq!(linked.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["below", "library"]);
        assert!(metadata.linked_into("another").is_err());
        assert_eq!(metadata.registry_folders().into_iter().collect::<Vec<_>>(), [PathBuf::from("/registry")]);
    }
}
