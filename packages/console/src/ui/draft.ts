import { type Dispatch, type SetStateAction, useEffect, useState } from 'react'

/** What is typed in fields whose values are in the address: it follows them, and the fields keep the focus. */
export function useDraft<Values>(values: Values): [Values, Dispatch<SetStateAction<Values>>] {
  const text = JSON.stringify(values)
  const [draft, setDraft] = useState(values)
  useEffect(() => setDraft(JSON.parse(text)), [text])
  return [draft, setDraft]
}
