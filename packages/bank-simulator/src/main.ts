import { startSimulator } from './index.ts'

/**
 * The simulated bank as a process. When it is ready it prints one line of JSON, `{"ready":true,"port":8081}`; everything
 * else goes to standard error.
 */

function required(name: string): string {
  const value = process.env[name]
  if (value) return value
  process.stderr.write(`bank simulator: set ${name}\n`)
  process.exit(2)
}

const simulator = await startSimulator({
  port: Number(process.env.PIXGATE_SIMULATOR_PORT ?? 8_081),
  dataDirectory: required('PIXGATE_SIMULATOR_DATA_DIR'),
  token: required('PIXGATE_PARTNER_TOKEN'),
  secret: required('PIXGATE_PARTNER_SECRET'),
  eventsUrl: required('PIXGATE_SIMULATOR_EVENTS_URL'),
}).catch((error) => {
  process.stderr.write(`bank simulator: ${error.message}\n`)
  process.exit(1)
})

let isStopping = false
function stop(): void {
  if (isStopping) return
  isStopping = true
  process.stdin.destroy()
  void simulator.stop()
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
if (process.env.PIXGATE_SIMULATOR_EXIT_WITH_PARENT === '1') {
  // The parent holds the other end of this pipe: it closes however the parent ends.
  process.stdin.on('close', stop)
  process.stdin.on('error', stop)
  process.stdin.resume()
}
process.stdout.write(`${JSON.stringify({ ready: true, port: simulator.port })}\n`)
