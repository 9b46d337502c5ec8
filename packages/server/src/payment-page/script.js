/* Copies the code, counts down, and waits for the next state. Repeats after a fault, at most each half minute. */
{
  const { state, leftMs, liveMs } = document.body.dataset
  const byId = (id) => document.getElementById(id)
  const [copy, code, told, left] = ['copy', 'code', 'told', 'left'].map(byId)
  const select = () => {
    const range = document.createRange()
    range.selectNodeContents(code)
    getSelection().removeAllRanges()
    getSelection().addRange(range)
    return document.execCommand('copy')
  }
  if (copy) {
    copy.hidden = false
    copy.onclick = async () => {
      let isCopied = true
      try {
        await navigator.clipboard.writeText(code.textContent)
      } catch {
        isCopied = select()
      }
      told.textContent = isCopied ? told.dataset.copied : told.dataset.selected
    }
  }
  const startedAt = Date.now()
  const part = (number) => String(number).padStart(2, '0')
  if (left) {
    const count = () => {
      const seconds = Math.ceil((leftMs - (Date.now() - startedAt)) / 1000)
      if (seconds > 86400) return
      const hours = Math.floor(seconds / 3600)
      const clock = `${hours ? `${hours}:` : ''}${part(Math.floor(seconds / 60) % 60)}:${part(seconds % 60)}`
      left.textContent = seconds <= 0 ? '' : `Expira em ${clock}`
      setTimeout(count, 500)
    }
    count()
  }
  let failures = 0
  let wake = () => {}
  let asking
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return
    failures = 0
    asking?.abort()
    wake()
  })
  const pause = (ms) =>
    new Promise((resolve) => {
      wake = resolve
      setTimeout(resolve, ms)
    })
  // The service was busy: any state is another one.
  const after = state === 'busy' ? '' : `?after=${state}`
  const watch = async () => {
    while (Date.now() - startedAt < liveMs) {
      const askedAt = Date.now()
      asking = new AbortController()
      const timer = setTimeout(() => asking.abort(), 30000)
      try {
        const answer = await fetch(`${location.pathname}/state${after}`, {
          signal: asking.signal,
          cache: 'no-store',
          credentials: 'omit',
        })
        if (!answer.ok) throw answer
        if ((await answer.json()).state !== state) return location.reload()
        failures = 0
      } catch {
        // Coming back to the page has ended a request that may hang.
        if (!asking.signal.aborted) failures += 1
      }
      clearTimeout(timer)
      await pause(failures ? Math.min(1000 * 2 ** failures, 30000) : Math.max(0, 1500 - (Date.now() - askedAt)))
    }
  }
  if (liveMs) watch()
}
