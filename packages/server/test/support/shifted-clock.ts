/**
 * The tests in another year: `npm test -- --clock=400` runs them 400 days from now. Loaded before every process of the
 * tests, this shifts the wall clock of the node; {@link shiftedClockSql} shifts that of the database.
 */

const DAY_MS = 24 * 60 * 60 * 1_000

/** How far the clocks are put forward; negative is the past. */
const shiftMs = Number(process.env.PIXGATE_TEST_CLOCK_DAYS ?? 0) * DAY_MS

/** What a process of the tests needs in its environment so that its clock is shifted too. */
export const shiftedClockEnvironment: Readonly<Record<string, string>> =
  shiftMs === 0
    ? {}
    : {
        NODE_OPTIONS: process.env.NODE_OPTIONS ?? '',
        PIXGATE_TEST_CLOCK_DAYS: process.env.PIXGATE_TEST_CLOCK_DAYS ?? '',
      }

/** For tests that compare the clocks of programs, or of HTTP, which are never shifted. */
export const NOT_SHIFTED = shiftMs === 0 ? {} : { skip: 'it compares clocks that are not shifted' }

/** Where the database finds its shifted clock: looked at before the system's own functions, and never created in. */
export const SHIFTED_SEARCH_PATH = 'public, shifted_clock, pg_catalog'

/** Defines the shifted clock in a database; `undefined` where nothing is shifted. */
export const shiftedClockSql =
  shiftMs === 0
    ? undefined
    : [
        'CREATE SCHEMA shifted_clock; GRANT USAGE ON SCHEMA shifted_clock TO PUBLIC',
        ...['clock_timestamp', 'statement_timestamp', 'transaction_timestamp', 'now'].map(
          (name) => `CREATE FUNCTION shifted_clock.${name}() RETURNS timestamptz LANGUAGE sql STABLE
                     AS 'SELECT pg_catalog.${name}() + interval ''${shiftMs} milliseconds'''`,
        ),
      ].join(';')

/** Lets the functions of a migrated database, which have a search path of their own, see that clock. */
export const shiftedFunctionsSql = `DO $$ DECLARE function regprocedure; BEGIN
  FOR function IN SELECT oid::regprocedure FROM pg_proc
                   WHERE pronamespace = 'public'::regnamespace AND proconfig::text LIKE '%search_path%' LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = ${SHIFTED_SEARCH_PATH}, pg_temp', function);
  END LOOP;
END $$`

if (shiftMs !== 0) {
  const Wall = globalThis.Date
  globalThis.Date = new Proxy(Wall, {
    construct: (_, given, target) =>
      Reflect.construct(
        Wall,
        given.length === 0 ? [Wall.now() + shiftMs] : given,
        target === globalThis.Date ? Wall : target,
      ),
    apply: () => new Wall(Wall.now() + shiftMs).toString(),
    get: (_, name) => (name === 'now' ? () => Wall.now() + shiftMs : Reflect.get(Wall, name)),
  })
}
