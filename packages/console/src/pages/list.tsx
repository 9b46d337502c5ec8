import type { ReactNode } from 'react'
import { Button } from '../ui/controls.tsx'
import { ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useWords } from '../words/words.tsx'
import css from './list.module.css'

interface ListProps {
  /** An infinite query of `reads`. */
  readonly list: {
    readonly error: Error | null
    readonly isPending: boolean
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly data: unknown
    readonly refetch: () => unknown
    readonly fetchNextPage: () => unknown
  }
  readonly isEmpty: boolean
  /** In place of the rows where there are none. */
  readonly empty: ReactNode
  /** Lines that are drawn while it loads. */
  readonly lines?: number
  /** Name of the button for the next page. */
  readonly more?: string
  /** The rows. */
  readonly children: ReactNode
}

/** A list that is read page by page: its error, its rows or why there are none, and the next page. */
export function List({ list, isEmpty, empty, lines = 6, more, children }: ListProps) {
  const words = useWords()
  return (
    <>
      {list.error && <ErrorNotice error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Waiting lines={lines} />}
      {list.data !== undefined && isEmpty && empty}
      {!isEmpty && children}
      {list.hasNextPage && (
        <p className={css.more}>
          <Button isBusy={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {more ?? words.loadMore}
          </Button>
        </p>
      )}
    </>
  )
}
