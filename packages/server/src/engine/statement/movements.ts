import type { Part } from './part.ts'

/** Notes on which operation a movement of money was booked. @source rules#ledger.movements */
export const movements: Part = {
  name: 'mv',
  isWanted: (draft) => draft.movements.size > 0,
  sql: ({ draft }, p) => {
    const movements = [...draft.movements.values()]
    return `
  inserted_movement AS (
    INSERT INTO movement (direction, id, operation_id, value_cents)
    SELECT * FROM ${p.rows('m', {
      direction: ['text', movements.map(({ direction }) => direction)],
      id: ['text', movements.map(({ id }) => id)],
      operation_id: ['uuid', movements.map(({ operationId }) => operationId)],
      value_cents: ['bigint', movements.map(({ valueCents }) => valueCents)],
    })}
     WHERE (SELECT yes FROM go)
  )`
  },
}
