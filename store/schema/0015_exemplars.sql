-- Whether the prompt of a candidate showed a kernel of another task of the category.
ALTER TABLE prompt_arms ADD COLUMN exemplar INTEGER NOT NULL DEFAULT 0 CHECK (exemplar IN (0, 1));
