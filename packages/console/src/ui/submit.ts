import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

/** A mutation that is not started again while it runs: the second click of a double click comes before the page shows the first. */
export function useSubmit<Answer, Input = void>(options: UseMutationOptions<Answer, Error, Input>) {
  const isRunning = useRef(false)
  const { mutate, ...mutation } = useMutation(options)
  return {
    ...mutation,
    mutate: (input: Input) => {
      if (isRunning.current) return
      isRunning.current = true
      mutate(input, {
        onSettled: () => {
          isRunning.current = false
        },
      })
    },
  }
}
