import { isIP, connect as dial, type Socket } from 'node:net'
import { connect } from 'node:tls'
import type { MonitoredHost } from '../../hosts/host-list.ts'
import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

const handshakeMs = 5_000

/** Seconds until the certificate that the host shows ends; below 0 when it has. Also told when the host cannot be asked. */
export const tlsExpiry: Evaluator = async ({ host, signal, nowMs }) => {
  if (host.url.protocol !== 'https:') return { measured: untold(`host ${host.name} is not reached over TLS`) }
  const endsMs = await certificateEnd(host, signal)
  if (endsMs === undefined) return { measured: untold(`host ${host.name} shows no certificate`) }
  return { measured: measured(Math.floor((endsMs - nowMs) / 1_000)) }
}

/** When the shown certificate ends, whoever issued it; undefined when there is no handshake. */
const certificateEnd = async (host: MonitoredHost, signal: AbortSignal): Promise<number | undefined> => {
  const under = await socketTo(host).catch(() => undefined)
  if (under === undefined) return undefined
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const name = nameOf(host.url)
  const socket = connect({
    socket: under,
    ...(isIP(name) === 0 && { servername: name }),
    ALPNProtocols: ['http/1.1'],
    // It is looked at, not relied on: nothing is sent.
    rejectUnauthorized: false,
  })
  socket.setTimeout(handshakeMs)
  const leave = (): void => void socket.destroy()
  // An error that nobody hears ends the process.
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

/** A socket without TLS. To a host that somebody brought it is opened through the guard, as all others to it are. */
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
