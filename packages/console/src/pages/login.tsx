import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ApiError } from '../api.ts'
import { logIn } from '../session.tsx'
import { Button, Field, Input } from '../ui/controls.tsx'
import { ErrorNotice, errorText } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords } from '../words/words.tsx'
import css from './login.module.css'

interface LoginProps {
  /** Of a one-time link. */
  readonly link: string | undefined
  /** A session was open and has ended. */
  readonly hasEnded?: boolean
}

export function Login({ link, hasEnded = false }: LoginProps) {
  const words = useWords()
  const [token, setToken] = useState('')
  const { mutate, error, isPending, variables } = useSubmit({ mutationFn: logIn })
  const isUsed = useRef(false)
  useEffect(() => {
    if (link === undefined || isUsed.current) return
    isUsed.current = true
    mutate({ link })
  }, [link, mutate])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (token.trim() !== '') mutate({ token: token.trim() })
  }
  const isRefused = error instanceof ApiError && error.status === 401
  const isOfLink = variables !== undefined && 'link' in variables
  return (
    <main className={css.page}>
      <form className={css.form} onSubmit={submit}>
        <p className={css.brand}>Pixgate</p>
        <h1>{hasEnded ? words.login.ended : words.login.title}</h1>
        <p className={css.hint}>{hasEnded ? words.login.endedHint : words.login.hint}</p>
        <Field
          label={words.login.token}
          error={isRefused ? (isOfLink ? words.login.linkRefused : words.login.refused) : undefined}
        >
          {(props) => (
            <Input
              {...props}
              type="password"
              value={token}
              maxLength={64}
              autoComplete="current-password"
              autoFocus
              onChange={({ target }) => setToken(target.value)}
            />
          )}
        </Field>
        {error && !isRefused && <ErrorNotice error={error} />}
        <Button type="submit" look="primary" isBusy={isPending}>
          {isPending && isOfLink ? words.login.withLink : words.login.enter}
        </Button>
      </form>
      <span className="visually-hidden" role="status">
        {isRefused && errorText(error, words)}
      </span>
    </main>
  )
}
