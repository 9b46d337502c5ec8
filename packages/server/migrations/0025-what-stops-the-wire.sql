-- Tariffs that were settled and may not be booked: a process of the version before keeps those that it reads.

CREATE INDEX statement_entry_tariff ON statement_entry (settled_at)
  WHERE kind = 'TARIFF' AND (outcome = 'KEPT' OR id <> reference);
