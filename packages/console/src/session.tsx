import { type OperatorRole, roleIncludes, type startSession } from '@pixgate/spec'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { ApiError, call, client, reads, type Session } from './api.ts'
import { useWords } from './words/words.tsx'

/** Who is logged in, and whether the session has ended meanwhile. */

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session')
  return session
}

/** Whether the role of the person allows it; the service decides. */
export function useMay(...roles: readonly OperatorRole[]): boolean {
  return roleIncludes(useSession().operator.role, roles)
}

/** Why the role of the person does not allow it; `undefined`: it does. */
export function useWhyNot(...roles: readonly OperatorRole[]): string | undefined {
  const words = useWords()
  const { operator } = useSession()
  return useMay(...roles) ? undefined : words.roleMissing(words.roles[operator.role])
}

let isExpired = false
const listeners = new Set<() => void>()

function setExpired(next: boolean): void {
  if (isExpired === next) return
  isExpired = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useIsExpired(): boolean {
  return useSyncExternalStore(subscribe, () => isExpired)
}

/** Every refusal for want of a session is noticed, whichever page asked. */
function notice(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) setExpired(true)
}

client.getQueryCache().config.onError = notice
client.getMutationCache().config.onError = notice

/** Between the tabs of a browser, whose cookie is one: who is logged in, or nobody. */
const tabs = new BroadcastChannel('pixgate-session')

tabs.onmessage = ({ data }: MessageEvent<string | null>) => {
  const before = client.getQueryData<Session>(reads.session().queryKey)
  if (before && before.operator.id !== data) location.reload()
  else setExpired(false)
}

type Credential = { readonly token: string } | { readonly link: string }

/** Logs in and goes on where the person was. What another person had open is forgotten. */
export async function logIn(credential: Credential): Promise<void> {
  const session = await call<typeof startSession>('POST', '/console/session', { body: credential })
  tabs.postMessage(session.operator.id)
  const { queryKey } = reads.session()
  const before = client.getQueryData<Session>(queryKey)
  if (before && before.operator.id !== session.operator.id) return location.reload()
  client.setQueryData(queryKey, session)
  setExpired(false)
  await client.invalidateQueries({ predicate: ({ queryKey: [kind] }) => kind !== 'session' })
}

/** Ends the session, here and at the service, and forgets all that was read. */
export async function logOut(): Promise<void> {
  await call('DELETE', '/console/session').catch(notice)
  tabs.postMessage(null)
  sessionStorage.clear()
  location.reload()
}
