"""Forms in which trainers ask `winnow serve --judge` for rewards: one file for each trainer (README.md lists them).

A form is a function in the trainer's process, or a local HTTP server: python3 -m winnow_forms NAME --server URL."""
