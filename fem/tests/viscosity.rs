//! Viscosity tables: what is read, what is refused, and how profiles are evaluated.

use farro_fem::viscosity::{CMB_RADIUS_KM, Profile, ProfileError, SURFACE_RADIUS_KM};
use proptest::prelude::*;

fn parse(text: &str) -> Result<Profile, ProfileError> {
    Profile::parse("table.csv", text)
}

fn rows(text: &str) -> Vec<(f64, f64)> {
    parse(text).unwrap().rows().collect()
}

const TWO: [(f64, f64); 2] = [(3480.0, 1e21), (6371.0, 1e23)];

#[test]
fn all_spellings_of_one_table_agree() {
    for text in [
        "radius_km,viscosity_pa_s\n3480,1e21\n6371,1e23\n",
        "radius_m;viscosity_pa_s\n6371000;1e23\n3480000;1e21",
        "depth_km\tviscosity_pa_s\n2891\t1e21\n0\t1e23\n",
        "depth_m,viscosity_pa_s\r\n2891e3,1e21\r\n0,1e23\r\n",
        "\u{feff}# a comment\n\n  # another, with commas\nname,viscosity_pa_s,other,radius_km\n\
         a,1e21,,3480\n\n#,no,row\nb,1e23,x,6371\n",
        "\"name\",\"radius_km\",\"viscosity_pa_s\"\n\"a, \"\"b\"\"\",3480,1e21\nc,\"6371\",1e23,\n",
        " Radius_KM , VISCOSITY_Pa_s \n 3480 , 1e21 \n 6371 , 1e23 ,,\n",
    ] {
        assert_eq!(rows(text), TWO, "{text}");
    }
}

#[test]
fn the_direction_of_the_file_says_which_side_of_a_jump_is_lower() {
    let jump = [(3480.0, 1.0), (5711.0, 2.0), (5711.0, 3.0), (6371.0, 4.0)];
    for text in [
        "radius_km,viscosity_pa_s\n3480,1\n5711,2\n5711,3\n6371,4\n",
        "radius_km,viscosity_pa_s\n6371,4\n5711,3\n5711,2\n3480,1\n",
        "radius_km,viscosity_pa_s\n5711,2\n6371,4\n5711,3\n3480,1\n",
        "depth_km,viscosity_pa_s\n0,4\n660,3\n660,2\n2891,1\n",
        "depth_km,viscosity_pa_s\n2891,1\n660,2\n660,3\n0,4\n",
        "depth_km,viscosity_pa_s\n660,3\n2891,1\n660,2\n0,4\n",
    ] {
        assert_eq!(rows(text), jump, "{text}");
    }
    assert_eq!(rows("radius_km,viscosity_pa_s\n5711,2\n5711,3\n"), jump[1..3]);
    assert_eq!(rows("depth_km,viscosity_pa_s\n660,3\n660,2\n"), jump[1..3]);
}

#[test]
fn every_fault_names_file_and_line() {
    type Check = fn(&ProfileError) -> bool;
    let faults: [(&str, usize, Check); 22] = [
        ("", 1, |e| matches!(e, ProfileError::Empty { what: "header", .. })),
        ("# only\n# comments\n", 2, |e| matches!(e, ProfileError::Empty { what: "header", .. })),
        ("radius_km,viscosity_pa_s\n", 1, |e| matches!(e, ProfileError::Empty { what: "row", .. })),
        ("\nradius,viscosity_pa_s\n1,2\n", 2, |e| matches!(e, ProfileError::MissingColumn { .. })),
        ("radius_km,viscosity\n1,2\n", 1, |e| {
            matches!(e, ProfileError::MissingColumn { needed: "viscosity_pa_s", .. })
        }),
        ("3480,1e21\n6371,1e23\n", 1, |e| matches!(e, ProfileError::MissingColumn { .. })),
        ("radius_km,depth_km,viscosity_pa_s\n1,2,3\n", 1, |e| {
            matches!(e, ProfileError::TwoColumns { quantity: "radius", .. })
        }),
        ("radius_km,radius_km,viscosity_pa_s\n1,2,3\n", 1, |e| matches!(e, ProfileError::TwoColumns { .. })),
        ("viscosity_pa_s,viscosity_pa_s,depth_m\n1,2,3\n", 1, |e| {
            matches!(e, ProfileError::TwoColumns { quantity: "viscosity", .. })
        }),
        ("radius_km,viscosity_pa_s\n1,x\n", 2, |e| matches!(e, ProfileError::BadNumber { .. })),
        ("radius_km;viscosity_pa_s\n1,5;1e21\n", 2, |e| matches!(e, ProfileError::BadNumber { .. })),
        ("radius_km,viscosity_pa_s\nnan,1\n", 2, |e| matches!(e, ProfileError::BadNumber { .. })),
        ("radius_km,viscosity_pa_s\n1,1\n2,nan\n", 3, |e| matches!(e, ProfileError::BadViscosity { .. })),
        ("radius_km,viscosity_pa_s\n1,0\n", 2, |e| matches!(e, ProfileError::BadViscosity { .. })),
        ("radius_km,viscosity_pa_s\n1,-1e21\n", 2, |e| matches!(e, ProfileError::BadViscosity { .. })),
        ("radius_km,viscosity_pa_s\n1,1e999\n", 2, |e| matches!(e, ProfileError::BadViscosity { .. })),
        ("radius_km,viscosity_pa_s\n1,1\n2,\n", 3, |e| matches!(e, ProfileError::Hole { .. })),
        ("radius_km,viscosity_pa_s\r\n\r\n#\r\n2\r\n", 4, |e| matches!(e, ProfileError::Hole { .. })),
        ("radius_km,viscosity_pa_s\n1,2,3\n", 2, |e| matches!(e, ProfileError::TooManyCells { .. })),
        ("radius_km,viscosity_pa_s\n6372,1\n", 2, |e| matches!(e, ProfileError::OutsideEarth { .. })),
        ("depth_km,viscosity_pa_s\n-1,1\n", 2, |e| matches!(e, ProfileError::OutsideEarth { .. })),
        ("radius_km,viscosity_pa_s\n5,1\n7,1\n5,2\n9,1\n5,3\n", 6, |e| matches!(e, ProfileError::ThirdAtRadius { .. })),
    ];
    for (text, line, check) in faults {
        let error = parse(text).unwrap_err();
        assert!(check(&error), "{text:?}: {error:?}");
        assert!(error.to_string().starts_with(&format!("table.csv:{line}: ")), "{text:?}: {error}");
    }
    // Metres given as kilometres.
    assert!(parse("radius_km,viscosity_pa_s\n6371000,1\n").unwrap_err().to_string().contains("unit"));
}

#[test]
fn files_that_are_missing_or_no_text_are_refused() {
    let error = Profile::read("no/such/table.csv").unwrap_err();
    assert!(matches!(error, ProfileError::Read { .. }) && error.to_string().contains("no/such/table.csv"));
    let path = std::env::temp_dir().join(format!("farro-viscosity-{}.csv", std::process::id()));
    std::fs::write(&path, b"radius_km,viscosity_pa_s\n1,\xff\n").unwrap();
    let error = Profile::read(&path).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(error, ProfileError::NotText { line: 2, .. }), "{error}");
}

#[test]
fn the_builtin_profile_is_a_layered_mantle_with_a_sharp_jump() {
    let profile = Profile::builtin();
    let all: Vec<_> = profile.rows().collect();
    assert_eq!((all[0].0, all[all.len() - 1].0), (CMB_RADIUS_KM, SURFACE_RADIUS_KM));
    let jumps = all.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    assert!(jumps.clone().count() >= 5);
    assert!(jumps.clone().any(|pair| pair[1].1 / pair[0].1 >= 1e3));
    assert_eq!(profile.at_radius_km(SURFACE_RADIUS_KM - 50.0), 1e23);
    assert_eq!(profile.reference(), 2e19);
    assert_eq!(profile.nondimensional(1.0, 0.5, 1.0).unwrap(), 1e23 / 2e19);
    assert_eq!(profile.nondimensional(0.5, 0.5, 1.0).unwrap(), 5.0);
}

#[test]
fn the_reference_looks_at_the_mantle_only() {
    // An outer core below the boundary must not set the scale.
    let profile = parse("radius_km,viscosity_pa_s\n1221,1e-2\n3480,1e-2\n3480,1e21\n6371,1e23\n").unwrap();
    assert_eq!(profile.reference(), 1e21);
    // A table that ends inside the mantle continues as a constant.
    assert_eq!(parse("radius_km,viscosity_pa_s\n5000,3e21\n").unwrap().reference(), 3e21);
}

#[test]
fn meshes_that_cannot_be_mapped_are_refused() {
    let profile = Profile::builtin();
    for (r, inner, outer) in [(0.5, 1.0, 1.0), (0.5, 1.0, 0.5), (f64::NAN, 0.5, 1.0), (0.7, 0.5, f64::INFINITY)] {
        assert!(matches!(profile.nondimensional(r, inner, outer), Err(ProfileError::BadMeshRadius { .. })));
    }
}

proptest! {
    #[test]
    fn tables_round_trip(raw in prop::collection::vec((0.0f64..=6371.0, -3.0f64..40.0), 1..40)) {
        let text = raw.iter().fold(String::from("radius_km,viscosity_pa_s\n"), |text, (radius, exponent)| {
            format!("{text}{radius:?},{:?}\n", 10f64.powf(*exponent))
        });
        let profile = parse(&text).unwrap();
        prop_assert_eq!(parse(&profile.to_csv()).unwrap(), profile.clone());
        // Rows are hit exactly; elsewhere values stay between the rows around them.
        for (radius, viscosity) in profile.rows() {
            prop_assert_eq!(profile.at_radius_km(radius), viscosity);
        }
        let all: Vec<_> = profile.rows().collect();
        for pair in all.windows(2) {
            let middle = profile.at_radius_km(0.5 * (pair[0].0 + pair[1].0));
            // The midpoint is rounded, which matters the more the closer the rows are.
            let tolerance = 1e-12 + 1e-10 / (pair[1].0 - pair[0].0);
            prop_assert!((middle / (pair[0].1 * pair[1].1).sqrt() - 1.0).abs() < tolerance);
        }
        prop_assert_eq!(profile.at_radius_km(f64::NEG_INFINITY), all[0].1);
        prop_assert_eq!(profile.at_radius_km(f64::INFINITY), all[all.len() - 1].1);
        for step in 0..=20 {
            prop_assert!(profile.nondimensional(0.5 + step as f64 / 40.0, 0.5, 1.0).unwrap() >= 1.0);
        }
    }

    #[test]
    fn no_text_panics(text in "[-0-9e.,;#\t\"\r\n a-z_]{0,80}", head: bool) {
        let text = if head { format!("depth_km,viscosity_pa_s\n{text}") } else { text };
        let _ = parse(&text);
    }
}
