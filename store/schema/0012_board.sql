-- Version 12. Measured ceilings of devices, and the races of `winnow race`. The content of
-- environments has the device's uuid and driver.

-- content: JSON of profiling/roofline/ceilings.h. uuid: empty for a device without one.
CREATE TABLE ceilings (
  id INTEGER PRIMARY KEY,
  device_name TEXT NOT NULL,
  uuid TEXT NOT NULL,
  driver TEXT NOT NULL,
  content TEXT NOT NULL CHECK (json_valid(content)),
  measured_at TEXT NOT NULL,
  UNIQUE (device_name, uuid, driver, measured_at)
) STRICT;

-- As in the view `races`: ratio is time of `rival` / time of `kernel`. No board rests on these rows.
CREATE TABLE asked_races (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  device_name TEXT NOT NULL,
  evaluator_version INTEGER NOT NULL,
  kernel TEXT NOT NULL,
  rival TEXT NOT NULL,
  verdict TEXT NOT NULL,
  ratio REAL NOT NULL,
  ratio_low REAL,
  ratio_high REAL,
  blocks INTEGER NOT NULL,
  raced_at TEXT NOT NULL
) STRICT;
