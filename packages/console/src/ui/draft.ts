import { type Dispatch, type SetStateAction, useEffect, useState } from 'react'

/** Draft of fields whose values are in the address. It follows the address without a remount, so the focus stays. */
export function useDraft<Values>(values: Values): [Values, Dispatch<SetStateAction<Values>>] {
  const text = JSON.stringify(values)
  const [draft, setDraft] = useState(values)
  useEffect(() => setDraft(JSON.parse(text)), [text])
  return [draft, setDraft]
}
