//! Scenes as JSON: objects with the keys of a location file. Limits are texts, since they go to 2^63 - 1 and a number of JavaScript
//! keeps 53 bits; positions are texts in both.

use crate::failure::Failure;
use dwell::{Fit, Frame, Location, Magnification, Scene, Size, View};
use serde_json::{Map, Value};

/// Digits of a height that has no finite decimal.
const DIGITS: usize = 40;
/// The key of the limit.
const LIMIT: &str = "iterations";
/// Keys that depend on the program and on the size of the page, not on what is shown.
const LEFT_OUT: [&str; 2] = ["dwell", "size"];

/// A scene as JSON.
pub(crate) type SceneJson = Map<String, Value>;

/// Reads a scene, for a picture of that size. No file is read, so a palette is a built-in one, or its text is in the scene.
///
/// # Errors
/// As [`Location::parse`].
pub(crate) fn read(json: &SceneJson, size: Size) -> Result<Scene, Failure> {
    let location = location(json)?;
    let view = location.view(size);
    Ok(Scene { view, ..location.scene })
}

/// The location of a scene.
pub(crate) fn location(json: &SceneJson) -> Result<Location, Failure> {
    let text = toml_text(json)?;
    Ok(Location::parse(&text, "explored")?)
}

/// The text of the location file with these keys.
fn toml_text(json: &SceneJson) -> Result<String, Failure> {
    let mut json = json.clone();
    without_nulls(&mut json);
    if let Some(Value::String(text)) = json.get(LIMIT)
        && text.bytes().all(|byte| byte.is_ascii_digit())
    {
        let limit: i64 = text.parse().map_err(|_| {
            Failure::unprocessable(format!(
                "{LIMIT}: {text:.40} is out of range (accepted: 1 to 2^63 - 1, or \"auto\")"
            ))
        })?;
        json.insert(LIMIT.to_owned(), limit.into());
    }
    toml::to_string(&json).map_err(|error| Failure::bad(format!("the scene is not one: {error}")))
}

/// Removes values that say nothing, which TOML does not have.
fn without_nulls(json: &mut SceneJson) {
    json.retain(|_, value| !value.is_null());
    for value in json.values_mut() {
        if let Value::Object(table) = value {
            without_nulls(table);
        }
    }
}

/// The scene of a location in normal form: a centre and the height of the view, of which the page changes each by itself. The frame is one
/// for a picture of that size.
pub(crate) fn written(location: &Location, size: Size) -> Result<SceneJson, Failure> {
    let view = square(location.view(size))?;
    let scene = Scene { view, ..location.scene.clone() };
    let text = Location { scene, fit: Fit::Never, ..location.clone() }.text();
    let mut json: SceneJson = toml::from_str(&text)
        .map_err(|error| Failure::unprocessable(format!("the scene cannot be written: {error}")))?;
    json.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
    if let Some(limit @ Value::Number(_)) = json.get_mut(LIMIT) {
        *limit = Value::String(limit.to_string());
    }
    Ok(json)
}

/// A scene in normal form.
pub(crate) fn of_scene(scene: Scene) -> Result<SceneJson, Failure> {
    let size = scene.view.size;
    let (name, notes) = ("explored".to_owned(), String::new());
    written(&Location { name, notes, scene, fit: Fit::Never, newer: None, unused: Vec::new() }, size)
}

/// The view with square pixels and a height.
fn square(view: View) -> Result<View, Failure> {
    let frame = match view.frame.with_square_pixels()? {
        Frame::Centred { re, im, magnification } => {
            Frame::Centred { re, im, magnification: Magnification::Height(magnification.height(DIGITS)?) }
        }
        bounds @ Frame::Bounds { .. } => bounds,
    };
    Ok(View { frame, ..view })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> SceneJson {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    fn size() -> Size {
        Size::new(1280, 720).unwrap()
    }

    #[test]
    fn scenes_are_read_as_location_files_are() {
        let scene = object(json!({
            "re": "-0.75", "im": "1e-1100", "zoom": "1e1000", "iterations": "9007199254740993", "julia": null,
            "colour": { "palette": "#001,#fff,#fa0", "scale": "auto", "density": 2.5, "look": null },
            "layer": [{ "what": "slope", "angle": 45.0 }],
        }));
        let scene = read(&scene, size()).unwrap();
        assert_eq!(scene.settings.limit, 9_007_199_254_740_993);
        assert!(scene.automatic.scale && !scene.automatic.limit && scene.colouring.density == 2.5);
        let again = of_scene(scene).unwrap();
        assert_eq!(again["iterations"], "9007199254740993");
        assert_eq!((&again["im"], &again["view_height"]), (&"1e-1100".into(), &"4e-1000".into()));
        assert!(!again.contains_key("size") && !again.contains_key("dwell") && !again.contains_key("zoom"));
        let twice = of_scene(read(&again, size()).unwrap()).unwrap();
        assert_eq!(again, twice);
    }

    #[test]
    fn built_in_locations_have_a_normal_form_that_stays() {
        for name in Location::built_in_names() {
            let json = written(&Location::built_in(name).unwrap(), size()).unwrap();
            assert!(json.contains_key("re") && json.contains_key("view_height"), "{name}");
            assert_eq!(of_scene(read(&json, size()).unwrap()).unwrap(), json_without_name(&json), "{name}");
        }
    }

    fn json_without_name(json: &SceneJson) -> SceneJson {
        let mut json = json.clone();
        json.insert("name".to_owned(), "explored".into());
        json.remove("notes");
        json
    }

    #[test]
    fn wrong_scenes_are_refused_in_a_sentence() {
        for (scene, said) in [
            (json!({}), "fit = true"),
            (json!({ "re": 1, "im": "0", "zoom": "1" }), "not text in quotes"),
            (json!({ "re": "0", "im": "0", "zoom": "0" }), "out of range"),
            (json!({ "re": "0", "im": "0", "zoom": "1", "iterations": "99999999999999999999" }), "2^63 - 1"),
            (json!({ "re": "0", "im": "0", "zoom": "1", "iterations": "many" }), "iterations"),
            (json!({ "re": "0", "im": "0", "zoom": "1", "colour": { "palette": "/etc/passwd" } }), "/etc/passwd"),
            (json!({ "re": "0", "im": "0", "zoom": "1", "colour": { "palette": "../a.ggr" } }), "is a file"),
            (json!({ "re": "0", "im": "0", "zoom": "1", "shine": 3 }), "shine"),
            (json!({ "re": "0", "im": "0", "zoom": "1", "tile": { "x": [null] } }), ""),
            (json!({ "re": "0", "im": "0", "zoom": "1", "power": 18446744073709551615_u64 }), ""),
        ] {
            let failure = read(&object(scene.clone()), size()).expect_err(&scene.to_string());
            assert!(failure.status.is_client_error(), "{failure:?}");
            assert!(format!("{failure:?}").contains(said), "{scene}: {failure:?}");
        }
    }
}
