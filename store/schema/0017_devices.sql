-- Version 17. Which device judged.

-- device_uuid: of a GPU, "GPU-8f6b..."; empty: a CPU, the driver does not tell, or from before this
-- version. driver: "CUDA 13.0"; empty: a CPU, or from before this version. worker: its name at the
-- broker; empty: the coordinator's machine judged.
ALTER TABLE evaluations ADD COLUMN device_uuid TEXT NOT NULL DEFAULT '';
ALTER TABLE evaluations ADD COLUMN driver TEXT NOT NULL DEFAULT '';
ALTER TABLE evaluations ADD COLUMN worker TEXT NOT NULL DEFAULT '';
ALTER TABLE sittings ADD COLUMN device_uuid TEXT NOT NULL DEFAULT '';
ALTER TABLE sittings ADD COLUMN driver TEXT NOT NULL DEFAULT '';
ALTER TABLE sittings ADD COLUMN worker TEXT NOT NULL DEFAULT '';
-- Finds out quickly whether several GPUs of a model have judged.
CREATE INDEX evaluations_by_gpu ON evaluations (device_name, evaluator_version, device_uuid)
  WHERE device_uuid <> '';
