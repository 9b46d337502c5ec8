-- What operators write off: money that left or arrived and is nobody's.
-- @source rules#desk.9

INSERT INTO account (id, code) VALUES (9, 'losses');
