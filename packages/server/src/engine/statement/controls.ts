import type { Part } from './part.ts'

/** Sets the controls that changed; `wanted_control` has their values. */
export const controls: Part = {
  name: 'ctl',
  isWanted: ({ changedControls }) => changedControls.size > 0,
  sql: () => `
  updated_control AS (
    UPDATE control c SET version = w.next, value = w.changed
      FROM cc JOIN wanted_control w USING (name)
     WHERE c.name = cc.name AND w.changed IS NOT NULL AND (SELECT yes FROM go)
  )`,
}
