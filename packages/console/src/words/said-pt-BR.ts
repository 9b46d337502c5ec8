/** Sentences of the specification in Portuguese, by the English sentence. */
export const said: Readonly<Record<string, string>> = {}
