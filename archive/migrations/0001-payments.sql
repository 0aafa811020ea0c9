-- Payments that have left Redis. The columns are for lists and for finance; `record` is the payment as Redis had it.
CREATE TABLE payments (
  id uuid PRIMARY KEY,
  merchant_id text NOT NULL,
  status text NOT NULL,
  external_reference text NOT NULL,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  amount_cents bigint NOT NULL,
  captured_cents bigint NOT NULL,
  refunded_cents bigint NOT NULL,
  installments int NOT NULL,
  brand text NOT NULL,
  last4 text NOT NULL,
  capture_mode text NOT NULL,
  sale_id text,
  tid text,
  nsu text,
  authorization_code text,
  declined_code text,
  authorized_at timestamptz,
  captured_at timestamptz,
  canceled_at timestamptz,
  refunded_at timestamptz,
  version bigint NOT NULL,
  archived_at timestamptz NOT NULL,
  returned_at timestamptz,
  money_moves jsonb NOT NULL,
  record text NOT NULL
) PARTITION BY RANGE (id);

CREATE INDEX ON payments (merchant_id, id);
CREATE INDEX ON payments (merchant_id, status, id);
CREATE INDEX ON payments (merchant_id, external_reference, id);
CREATE INDEX ON payments (sale_id) WHERE sale_id IS NOT NULL;
-- Small: a view that is read for some days passes over the blocks of all others.
CREATE INDEX ON payments USING brin (((created_at AT TIME ZONE 'UTC')::date));

-- The first payment id of a time: 48 bits of milliseconds, then zeros.
CREATE FUNCTION first_payment_id(at timestamptz) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT
  AS $$ SELECT rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $$;

-- Makes the partitions of the months (UTC) in which these payments were created. ATTACH lets readers of the other months
-- go on; CREATE TABLE … PARTITION OF would wait for them, and let all others wait behind it.
CREATE FUNCTION add_months_of(ids uuid[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' AS $$
DECLARE
  month timestamptz;
  partition text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('payments archive'), 2);
  FOR month IN
    SELECT DISTINCT date_trunc('month', to_timestamp(('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0))
    FROM unnest(ids) AS id
  LOOP
    partition := to_char(month, '"payments_"YYYY_MM');
    CONTINUE WHEN to_regclass(partition) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE payments INCLUDING ALL)', partition);
    EXECUTE format(
      'ALTER TABLE payments ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition, first_payment_id(month), first_payment_id(month + interval '1 month')
    );
  END LOOP;
END $$;

CREATE VIEW report_daily AS
  SELECT (created_at AT TIME ZONE 'UTC')::date AS day, merchant_id, status, brand, count(*) AS count,
    sum(amount_cents)::bigint AS amount_cents, sum(captured_cents)::bigint AS captured_cents,
    sum(refunded_cents)::bigint AS refunded_cents, count(returned_at) AS returned_count
  FROM payments GROUP BY 1, 2, 3, 4;

CREATE VIEW report_settlement AS
  SELECT move.type, move.occurred_at, move.amount_cents, 'BRL' AS currency, merchant_id, id AS payment_id,
    external_reference, move.idempotency_key, installments, brand, last4, nsu, tid, authorization_code,
    (created_at AT TIME ZONE 'UTC')::date AS created_on, returned_at
  FROM payments, jsonb_to_recordset(money_moves)
    AS move (type text, occurred_at timestamptz, amount_cents bigint, idempotency_key text);

-- Two roles to grant to users. They belong to the server, not to this database; where the owner may not create roles, an
-- administrator creates them first (docs/ARCHIVE.md).
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['archive_reader', 'archive_writer'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
      CONTINUE;
    END;
  END LOOP;
  REVOKE EXECUTE ON FUNCTION add_months_of FROM PUBLIC;
  IF to_regrole('archive_reader') IS NOT NULL THEN
    -- All but `record`, which has the buyer's name and address.
    GRANT SELECT (
      id, merchant_id, status, external_reference, created_at, changed_at, amount_cents, captured_cents, refunded_cents,
      installments, brand, last4, capture_mode, sale_id, tid, nsu, authorization_code, declined_code, authorized_at,
      captured_at, canceled_at, refunded_at, version, archived_at, returned_at, money_moves
    ) ON payments TO archive_reader;
    GRANT SELECT ON report_daily, report_settlement, schema_migrations TO archive_reader;
  END IF;
  IF to_regrole('archive_writer') IS NOT NULL THEN
    GRANT SELECT, INSERT, UPDATE ON payments TO archive_writer;
    GRANT EXECUTE ON FUNCTION add_months_of TO archive_writer;
  END IF;
END $$;
