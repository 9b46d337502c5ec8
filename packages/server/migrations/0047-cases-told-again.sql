-- A case that is told again tells what was told last, and its amount with it.
GRANT UPDATE (facts, amount_cents) ON "case" TO pixgate_app;
