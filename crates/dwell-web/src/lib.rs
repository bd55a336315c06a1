//! The explorer of `dwell`: a server on this machine, the page that it serves, and the API that the page uses.
//!
//! ```text
//! request -> guard (Host, Origin, token) -> route -> admission (cost, turns) -> engine -> answer
//! ```
//!
//! A page sends the view that it shows over a WebSocket ([the protocol](https://docs.rs/dwell-web)) and gets dwells, from
//! coarse to fine, and the finished picture. Everything else is HTTP under `api/v1/`, which `openapi.json` there describes.
//!
//! | file | what it holds |
//! |---|---|
//! | `server.rs` | the listener, the connections, the end |
//! | `address.rs`, `token.rs` | where it listens, and the secret in its link |
//! | `guard.rs` | what every request must have, and what every answer says to the browser |
//! | `admission.rs` | how much is computed at once and for how long; work ends when nobody waits for it |
//! | `scene_json.rs` | scenes as JSON, with the keys of a location file |
//! | `bounds.rs` | the largest sizes of what is asked for |
//! | `socket.rs`, `stages.rs`, `frame.rs` | the WebSocket: a view in stages, from coarse to fine, and its messages |
//! | `routes/` | the routes, one file for each kind of resource |
//! | `folder.rs`, `jobs.rs` | the user's folder: bookmarks, and posters that outlive the server |
//! | `peaks.rs`, `reports.rs` | rates that the configurations of a view are compared with, and the laboratory's reports |
//! | `assets.rs` | the page |

#![forbid(unsafe_code)]

mod address;
mod admission;
mod assets;
mod body;
mod bounds;
mod failure;
mod folder;
mod frame;
mod guard;
mod jobs;
mod peaks;
mod reports;
mod routes;
mod scene_json;
mod server;
mod socket;
mod stages;
mod state;
mod token;

pub use address::Listen;
pub use reports::{Report, Reports};
pub use server::{Explorer, Options, StartError};
