/** What no run can reach, each with the reason. */
export const UNREACHABLE: Readonly<Record<string, string>> = {}
