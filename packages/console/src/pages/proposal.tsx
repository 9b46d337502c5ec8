import type { decideCaseProposal } from '@pixgate/spec'
import { type FormEvent, useState } from 'react'
import { call, client } from '../api.ts'
import { reais } from '../format.ts'
import { useMay, useSession } from '../session.tsx'
import { Button, ReasonField } from '../ui/controls.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce, ErrorNotice } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords } from '../words/words.tsx'
import css from './case.module.css'

/** Approves or refuses, with a reason. */

interface VerdictProps {
  readonly title: string
  /** What is approved or refused. */
  readonly about: string
  readonly isApproval: boolean
  readonly onClose: () => void
  readonly decide: (verdict: { readonly approved: boolean; readonly reason: string }) => Promise<unknown>
}

function VerdictDialog({ title, about, isApproval, onClose, decide }: VerdictProps) {
  const words = useWords()
  const [reason, setReason] = useState('')
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () => decide({ approved: isApproval, reason: reason.trim() }),
    onSuccess: () => {
      announce(isApproval ? words.approvals.approved : words.approvals.refused)
      onClose()
      return client.invalidateQueries()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) mutate()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <p>
          <strong>{about}</strong>
        </p>
        <ReasonField value={reason} hint={words.reasonHint} onChange={setReason} />
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look={isApproval ? 'primary' : 'danger'} isBusy={isPending}>
            {isApproval ? words.approvals.approve : words.approvals.refuse}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

interface ButtonsProps {
  readonly about: string
  readonly whyNotApprove: string | undefined
  readonly whyNotRefuse: string | undefined
  readonly decide: VerdictProps['decide']
}

export function VerdictButtons({ about, whyNotApprove, whyNotRefuse, decide }: ButtonsProps) {
  const words = useWords()
  const text = words.approvals
  const [open, setOpen] = useState<'approve' | 'refuse'>()
  if (whyNotApprove !== undefined && whyNotApprove === whyNotRefuse) return <p className={css.quiet}>{whyNotApprove}</p>
  return (
    <div className={css.verdict}>
      <Button look="primary" whyNot={whyNotApprove} onClick={() => setOpen('approve')}>
        {text.approve}
      </Button>
      <Button look="danger" whyNot={whyNotRefuse} onClick={() => setOpen('refuse')}>
        {text.refuse}
      </Button>
      {open && (
        <VerdictDialog
          title={open === 'approve' ? text.approveTitle : text.refuseTitle}
          about={about}
          isApproval={open === 'approve'}
          onClose={() => setOpen(undefined)}
          decide={decide}
        />
      )}
    </div>
  )
}

/** A decision with its amount, in a line. */
export function aboutOf(decision: string | undefined, cents: number): string {
  return [decision, ...(cents > 0 ? [reais(cents)] : [])].filter(Boolean).join(' · ')
}

interface ProposalProps {
  readonly caseId: string
  readonly proposalId: string
  /** The id of who proposed it. */
  readonly by: string
  readonly about: string
}

export function ProposalButtons({ caseId, proposalId, by, about }: ProposalProps) {
  const words = useWords()
  const { operator } = useSession()
  const mayApprove = useMay('approver')
  const mayRefuse = useMay('operator', 'approver')
  const roleMissing = words.roleMissing(words.roles[operator.role])
  return (
    <VerdictButtons
      about={about}
      whyNotApprove={by === operator.id ? words.approvals.own : mayApprove ? undefined : roleMissing}
      whyNotRefuse={mayRefuse ? undefined : roleMissing}
      decide={(body) =>
        call<typeof decideCaseProposal>('PUT', `/operator/cases/${caseId}/proposals/${proposalId}`, { body })
      }
    />
  )
}
