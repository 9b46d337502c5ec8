-- Tariffs that the statement showed before they were booked are looked at once more.

UPDATE statement_entry SET settled_at = NULL, outcome = NULL WHERE kind = 'TARIFF' AND settled_at IS NOT NULL;
