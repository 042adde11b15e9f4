import { isIP, connect as dial, type Socket } from 'node:net'
import { connect } from 'node:tls'
import type { MonitoredHost } from '../../hosts/host-list.ts'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import type { Evaluator } from './evaluator.ts'

const handshakeMs = 5_000

/** Returns the seconds until the host's certificate expires, negative once expired. It runs no query. */
export const evaluateTlsExpiry: Evaluator = async ({ host, signal, nowMs }) => {
  if (host.url.protocol !== 'https:')
    return { measured: createMissingMeasurement(`host ${host.name} does not use TLS`) }
  const endsMs = await certificateExpiry(host, signal)
  if (endsMs === undefined) return { measured: createMissingMeasurement(`host ${host.name} presents no certificate`) }
  return { measured: createMeasurement(Math.floor((endsMs - nowMs) / 1_000)) }
}

/** Returns when the presented certificate expires, in epoch milliseconds; undefined when the handshake fails. */
const certificateExpiry = async (host: MonitoredHost, signal: AbortSignal): Promise<number | undefined> => {
  const under = await socketTo(host).catch(() => undefined)
  if (under === undefined) return undefined
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const name = nameOf(host.url)
  const socket = connect({
    socket: under,
    ...(isIP(name) === 0 && { servername: name }),
    ALPNProtocols: ['http/1.1'],
    // The certificate is only read. No data is sent.
    rejectUnauthorized: false,
  })
  socket.setTimeout(handshakeMs)
  const leave = (): void => void socket.destroy()
  // An unhandled error event would end the process.
  under.on('error', leave)
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  socket.once('secureConnect', () => {
    const endsMs = Date.parse(socket.getPeerCertificate().valid_to)
    resolve(Number.isNaN(endsMs) ? undefined : endsMs)
    socket.destroy()
  })
  socket.once('timeout', leave)
  socket.once('error', leave)
  socket.once('close', () => {
    signal.removeEventListener('abort', leave)
    resolve(undefined)
  })
  return promise
}

/** Opens a socket without TLS. Sockets to user-supplied hosts go through the network guard. */
const socketTo = async ({ url, connect: guarded }: MonitoredHost): Promise<Socket> => {
  const port = Number(url.port) || 443
  if (!guarded) return dial({ host: nameOf(url), port })
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  guarded({ hostname: nameOf(url), protocol: 'http:', port: String(port) }, (...[error, socket]) =>
    error === null ? resolve(socket) : reject(error),
  )
  return promise
}

const nameOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
