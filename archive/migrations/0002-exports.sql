-- Months that operators have exported to files. A month is dropped only while an export has all of it (docs/ARCHIVE.md).
CREATE TABLE exports (
  month date NOT NULL,
  exported_at timestamptz NOT NULL DEFAULT now(),
  payments bigint NOT NULL,
  fingerprint numeric NOT NULL,
  sha256 text NOT NULL,
  dropped_at timestamptz,
  PRIMARY KEY (month, exported_at)
);

-- Exports and drops are made by the owner of the tables: the writer needs nothing here.
DO $$
BEGIN
  IF to_regrole('archive_reader') IS NOT NULL THEN
    GRANT SELECT ON exports TO archive_reader;
  END IF;
END $$;
