import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Whoever cleans up when we no longer can. */
export interface Guard {
  /** Lets it clean up now, and resolves when it has. */
  dismiss(): Promise<void>
}

/** Ends the database of a folder, unless it has ended, and removes the directory, unless it is kept. */
const SCRIPT = `
  cat > /dev/null
  pid=$(head -n 1 "$1/postmaster.pid" 2> /dev/null) && kill -QUIT "$pid" 2> /dev/null
  [ "$2" = keep ] || rm -rf "$0"`

/**
 * Sets a shell beside us that cleans up when its standard input closes: when it is dismissed, or when we are killed. The
 * other processes end by themselves then.
 * @param folder of the database
 */
export function setGuard(directory: string, folder: string, isKept: boolean): Guard {
  const parameters = ['-c', SCRIPT, directory, folder, isKept ? 'keep' : 'remove']
  // A terminal's Ctrl-C is for us.
  const shell = spawn('/bin/sh', parameters, { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  const gone = once(shell, 'close')
  return {
    dismiss: async () => {
      shell.stdin.end()
      await gone
    },
  }
}
