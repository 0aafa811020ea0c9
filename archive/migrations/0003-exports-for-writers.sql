-- Whether a payment that left Redis is missing, or was dropped with its month: `api` and `payments` ask before they say that there
-- is no such payment.
DO $$
BEGIN
  IF to_regrole('archive_writer') IS NOT NULL THEN
    GRANT SELECT ON exports TO archive_writer;
  END IF;
END $$;
