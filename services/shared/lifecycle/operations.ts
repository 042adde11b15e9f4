import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Registry } from 'prom-client'
import { InvalidSettings } from '../config/setting.ts'
import type { ListenerReply, ListenerOptions, ProcessState, ListenerRequest } from './operations-listener.ts'
import type { ProcessReadiness } from './readiness.ts'

/** Options of the operations listener. */
export interface OperationsServerOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  readiness: Pick<ProcessReadiness, 'unmet' | 'problems'>
  metrics: Registry
  /** The process counts as hung after its event loop was blocked for this long. */
  hungAfterMs?: number
}

/** The listener of this process for probes and scrapes. */
export interface OperationsServer extends AsyncDisposable {
  /** The URL of the listener on this machine. */
  readonly url: string
}

const listener = new URL('./operations-listener.ts', import.meta.url)
const reportEveryMs = 100
const defaultHungAfterMs = 10_000
/** The thread needs little memory; the default limit depends on the memory of the machine. */
const listenerMemoryLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

/**
 * Serves `/livez` (the process runs), `/readyz` (503 with the unmet conditions and their problems) and `/metrics`
 * (Prometheus text).
 *
 * A separate thread responds to probes from the last reported state. On an overloaded machine, the main event loop
 * would respond after seconds, and an orchestrator would restart a process that is only slow.
 */
export const startOperationsServer = async (options: OperationsServerOptions): Promise<OperationsServer> => {
  const { host, port, readiness, metrics, hungAfterMs = defaultHungAfterMs } = options
  const state = (): ProcessState => ({ unmet: readiness.unmet(), problems: readiness.problems() })
  const workerData: ListenerOptions = { host, port, hungAfterMs, state: state() }
  // Preloaded modules (`--import`) are meant for the main thread only.
  const worker = new Worker(listener, { workerData, resourceLimits: listenerMemoryLimits, execArgv: [] })
  const send = (message: ListenerRequest): void => worker.postMessage(message)
  const reporting = setInterval(() => send({ state: state() }), reportEveryMs)
  worker.on('message', (message: ListenerReply) => {
    if (!('scrape' in message)) return
    metrics.metrics().then(
      (text) => send({ scrape: message.scrape, type: metrics.contentType, text }),
      () => send({ scrape: message.scrape }),
    )
  })
  const end = async (): Promise<void> => {
    clearInterval(reporting)
    await worker.terminate()
  }
  try {
    return { url: `http://127.0.0.1:${await waitForPort(worker, port)}`, [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw error
  }
}

/** Waits for the listener and returns its port. */
const waitForPort = async (worker: Worker, wanted: number): Promise<number> => {
  // The first message of the listener has the port or the error.
  const [message] = (await once(worker, 'message')) as [ListenerReply]
  if ('port' in message) return message.port
  const code = 'code' in message ? message.code : undefined
  if (code !== 'EADDRINUSE')
    throw new Error(
      `the operations listener cannot listen on port ${wanted}: ${code}; check OPERATIONS_HOST and OPERATIONS_PORT`,
    )
  throw new InvalidSettings([
    { name: 'OPERATIONS_PORT', sentence: `port ${wanted} is already in use by another process` },
  ])
}
