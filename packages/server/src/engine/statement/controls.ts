import type { Part } from './part.ts'

/** Sets the controls that changed; `wanted_control` has their values. */
export const controls: Part = {
  name: 'ctl',
  isWanted: ({ changedControls, cases }) => changedControls.size > 0 && !cases.areLooseReported,
  sql: () => `
  updated_control AS (
    UPDATE control c SET version = w.next, value = w.changed
      FROM cc JOIN wanted_control w USING (name)
     WHERE c.name = cc.name AND w.changed IS NOT NULL AND (SELECT yes FROM go)
  )`,
}

/**
 * The same where cases of no operation are told. Their control moves also where one that was there is told otherwise than it was, so that
 * nobody decides it by what was told before; those that are new have the ids that they were given.
 * @source rules#desk.51
 */
export const controlsOfReported: Part = {
  name: 'ctt',
  isWanted: ({ cases }) => cases.areLooseReported,
  sql: ({ draft: { cases } }, p) => {
    const ids = cases.opened.map(({ id }) => id)
    return `
  updated_control AS (
    UPDATE control c SET version = coalesce(w.next, c.version + 1), value = coalesce(w.changed, c.value)
      FROM cc JOIN wanted_control w USING (name)
     WHERE c.name = cc.name AND (SELECT yes FROM go)
       AND (w.changed IS NOT NULL
            OR c.name = 'loose_cases'
               AND EXISTS (SELECT FROM inserted_case WHERE operation_id IS NULL AND id <> ALL (${p.one('uuid[]', ids)})))
  )`
  },
}
