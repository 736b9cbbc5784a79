//! The values that TPC-DS's queries ask for, and few others.

/// City, county, state, offset from UTC.
pub(super) const PLACES: &[(&str, &str, &str, i64)] = &[
    ("Fairview", "Williamson County", "TN", -5),
    ("Midway", "Jefferson County", "GA", -5),
    ("Edgewood", "Rush County", "IN", -5),
    ("Oak Grove", "Bronx County", "TX", -6),
    ("Riverside", "Dona Ana County", "NM", -7),
    ("Pleasant Hill", "Toole County", "CA", -8),
    ("Centerville", "La Porte County", "OH", -5),
    ("Glendale", "Orange County", "IL", -6),
];

pub(super) const ZIPS: &[[&str; 2]] = &[
    ["35709", "35818"],
    ["31904", "31387"],
    ["47770", "47305"],
    ["75691", "75109"],
    ["88274", "87816"],
    ["91137", "92712"],
    ["43285", "43848"],
    ["61265", "60576"],
];

/// A store's name and place.
pub(super) const STORES: &[(&str, usize)] =
    &[("ese", 0), ("able", 0), ("ought", 1), ("ese", 0), ("ation", 3), ("bar", 0)];

pub(super) const NAMES: &[&str] =
    &["Ada", "Ben", "Cora", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jane", "Kai", "Lea"];

pub(super) const EDUCATIONS: &[&str] = &[
    "Primary",
    "Secondary",
    "College",
    "2 yr Degree",
    "4 yr Degree",
    "Advanced Degree",
    "Unknown",
];

/// Gender, marital status and education of most customers, as places in their lists.
pub(super) const DEMOGRAPHICS: &[(usize, usize, usize)] = &[
    (0, 0, 5),
    (0, 0, 6),
    (0, 1, 2),
    (0, 2, 3),
    (0, 3, 3),
    (0, 3, 5),
    (1, 0, 4),
    (1, 1, 2),
    (1, 1, 6),
    (1, 2, 6),
    (1, 3, 5),
];

/// A category with its classes and brands.
pub(super) const CATEGORIES: &[(&str, &[&str], &[&str])] = &[
    ("Women", &["maternity", "dresses", "fragrances"], &["amalgimporto #1", "importoamalg #1"]),
    ("Men", &["shirts", "pants", "accessories"], &["importoamalg #1", "exportiimporto #1"]),
    ("Children", &["toddlers", "reference"], &["exportiunivamalg #9", "amalgexporti #1"]),
    ("Music", &["classical", "rock"], &["edu packscholar #1", "exportiimporto #1"]),
    ("Jewelry", &["birdal", "rings"], &["jewelmaxi #1", "jewelmaxi #2"]),
    ("Home", &["bedding", "decor"], &["homenamel #1", "homenamel #2"]),
    ("Sports", &["football", "fishing"], &["corpmaxi #1", "corpmaxi #2"]),
    ("Books", &["reference", "self-help"], &["scholaramalgamalg #14", "scholaramalgamalg #7"]),
    ("Electronics", &["personal", "portable", "stereo"], &["exportiunivamalg #9", "univ #1"]),
];

pub(super) const MANUFACTURERS: &[i64] = &[128, 129, 270, 350, 677, 738, 770, 940, 977];
pub(super) const MANAGERS: &[i64] = &[1, 8, 28];
pub(super) const SIZES: &[&str] = &["small", "medium", "large", "extra large", "petite", "N/A"];
pub(super) const UNITS: &[&str] = &["Ounce", "Oz", "Bunch", "Ton", "N/A", "Dozen", "Box", "Pound"];
pub(super) const COLORS: &[&str] = &[
    "peach",
    "saddle",
    "slate",
    "blanched",
    "burnished",
    "purple",
    "floral",
    "powder",
    "khaki",
    "brown",
    "light",
    "medium",
];

/// An item as a query with many conditions asks for it.
#[derive(Clone, Copy)]
pub(super) struct AskedFor {
    pub(super) category: usize,
    pub(super) price: i64,
    pub(super) color: &'static str,
    pub(super) units: &'static str,
    pub(super) size: &'static str,
}

/// The first items, which are sold most.
pub(super) const ITEMS_ASKED_FOR: &[AskedFor] = &[
    AskedFor { category: 8, price: 120, color: "slate", units: "Each", size: "large" },
    AskedFor { category: 3, price: 6650, color: "purple", units: "Box", size: "petite" },
    AskedFor { category: 0, price: 7000, color: "floral", units: "Each", size: "large" },
    AskedFor { category: 7, price: 7050, color: "peach", units: "Box", size: "small" },
    AskedFor { category: 4, price: 6999, color: "burlywood", units: "Oz", size: "large" },
    AskedFor { category: 6, price: 110, color: "blanched", units: "Each", size: "large" },
    AskedFor { category: 7, price: 8999, color: "saddle", units: "Box", size: "medium" },
    AskedFor { category: 0, price: 8450, color: "burnished", units: "Ton", size: "large" },
    AskedFor { category: 8, price: 7350, color: "peach", units: "Each", size: "petite" },
    AskedFor { category: 1, price: 6650, color: "medium", units: "Box", size: "petite" },
    AskedFor { category: 0, price: 9050, color: "powder", units: "Ounce", size: "medium" },
    AskedFor { category: 1, price: 140, color: "light", units: "Box", size: "extra large" },
];

/// Year and month of most sales.
pub(super) const HOT_MONTHS: &[(i32, u32)] = &[
    (1998, 5),
    (1998, 9),
    (1998, 11),
    (1998, 12),
    (1999, 1),
    (1999, 3),
    (1999, 9),
    (1999, 11),
    (1999, 12),
    (2000, 1),
    (2000, 2),
    (2000, 3),
    (2000, 6),
    (2000, 9),
    (2000, 11),
    (2000, 12),
    (2001, 1),
    (2001, 2),
    (2001, 4),
    (2001, 11),
    (2001, 12),
    (2002, 2),
    (2002, 3),
];

/// Days of most returns.
pub(super) const HOT_RETURNS: &[(i32, u32, u32)] = &[
    (1998, 11, 10),
    (2000, 6, 30),
    (2000, 8, 25),
    (2000, 9, 27),
    (2000, 11, 17),
    (2001, 4, 20),
    (2001, 8, 15),
];
