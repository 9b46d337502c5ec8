import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import { ApiError, reads } from './api.ts'
import { Frame } from './frame.tsx'
import { startLive } from './live.ts'
import { Login } from './pages/login.tsx'
import { Overview } from './pages/overview.tsx'
import { SessionContext, useIsExpired } from './session.tsx'
import { Dialog } from './ui/dialog.tsx'
import { Empty, ErrorNotice, Toast, Waiting } from './ui/feedback.tsx'
import { useWords } from './words/words.tsx'

const Payments = lazy(() => import('./pages/payments.tsx').then(({ Payments }) => ({ default: Payments })))
const Payment = lazy(() => import('./pages/payment.tsx').then(({ Payment }) => ({ default: Payment })))
const Cases = lazy(() => import('./pages/cases.tsx').then(({ Cases }) => ({ default: Cases })))
const Case = lazy(() => import('./pages/case.tsx').then(({ Case }) => ({ default: Case })))
const Approvals = lazy(() => import('./pages/approvals.tsx').then(({ Approvals }) => ({ default: Approvals })))

const Statement = lazy(() => import('./pages/statement.tsx').then(({ Statement }) => ({ default: Statement })))
const Ledger = lazy(() => import('./pages/ledger.tsx').then(({ Ledger }) => ({ default: Ledger })))
const Closes = lazy(() => import('./pages/closes.tsx').then(({ Closes }) => ({ default: Closes })))
const Close = lazy(() => import('./pages/close.tsx').then(({ Close }) => ({ default: Close })))
const Webhooks = lazy(() => import('./pages/webhooks.tsx').then(({ Webhooks }) => ({ default: Webhooks })))
const Webhook = lazy(() => import('./pages/webhook.tsx').then(({ Webhook }) => ({ default: Webhook })))
const Keys = lazy(() => import('./pages/keys.tsx').then(({ Keys }) => ({ default: Keys })))
const People = lazy(() => import('./pages/people.tsx').then(({ People }) => ({ default: People })))
const Limits = lazy(() => import('./pages/limits.tsx').then(({ Limits }) => ({ default: Limits })))
const Audit = lazy(() => import('./pages/audit.tsx').then(({ Audit }) => ({ default: Audit })))
const System = lazy(() => import('./pages/system.tsx').then(({ System }) => ({ default: System })))
const Sandbox = lazy(() => import('./pages/sandbox.tsx').then(({ Sandbox }) => ({ default: Sandbox })))

/** @param link the code of a one-time link */
export function App({ link }: { readonly link: string | undefined }) {
  const session = useQuery({ ...reads.session(), enabled: link === undefined })
  const isExpired = useIsExpired()
  const mode = session.data?.mode
  useEffect(() => {
    if (mode) document.documentElement.dataset.mode = mode
  }, [mode])
  const isLive = session.data !== undefined && !isExpired
  useEffect(() => (isLive ? startLive() : undefined), [isLive])

  if (session.data) {
    return (
      <SessionContext value={session.data}>
        <Router base="/console">
          <Frame>
            <Pages />
          </Frame>
        </Router>
        {isExpired && <LoginAgain />}
        <Toast />
      </SessionContext>
    )
  }
  if (link === undefined && session.isPending) return null
  if (session.error && !(session.error instanceof ApiError && session.error.status === 401)) {
    return (
      <main style={{ padding: 32, maxWidth: 640, margin: '0 auto' }}>
        <ErrorNotice error={session.error} onRetry={() => session.refetch()} />
      </main>
    )
  }
  return <Login link={link} />
}

/** Covers the page, which keeps what was typed. */
function LoginAgain() {
  const words = useWords()
  return (
    <Dialog title={words.login.ended} look="cover" onClose={() => undefined}>
      <Login link={undefined} hasEnded />
    </Dialog>
  )
}

function Pages() {
  const [path] = useLocation()
  const seen = useRef(path)
  useEffect(() => {
    if (seen.current === path) return
    seen.current = path
    scrollTo(0, 0)
    // The page, not the link in the navigation: Tab goes on with its content.
    document.getElementById('page')?.focus({ preventScroll: true })
  }, [path])
  return (
    <Suspense fallback={<Waiting lines={6} />}>
      <Switch>
        <Route path="/" component={Overview} />
        <Route path="/payments" component={Payments} />
        <Route path="/payments/:id">{({ id }) => <Payment key={id} id={id} />}</Route>
        <Route path="/cases" component={Cases} />
        <Route path="/cases/:id">{({ id }) => <Case key={id} id={id} />}</Route>
        <Route path="/approvals" component={Approvals} />
        <Route path="/statement" component={Statement} />
        <Route path="/ledger" component={Ledger} />
        <Route path="/closes" component={Closes} />
        <Route path="/closes/:day">{({ day }) => <Close key={day} day={day} />}</Route>
        <Route path="/webhooks" component={Webhooks} />
        <Route path="/webhooks/:id">{({ id }) => <Webhook key={id} id={id} />}</Route>
        <Route path="/keys" component={Keys} />
        <Route path="/people" component={People} />
        <Route path="/limits" component={Limits} />
        <Route path="/audit" component={Audit} />
        <Route path="/system" component={System} />
        <Route path="/sandbox" component={Sandbox} />
        <Route component={NotFound} />
      </Switch>
    </Suspense>
  )
}

function NotFound() {
  const words = useWords()
  return <Empty title={words.notFound.title}>{words.notFound.hint}</Empty>
}
