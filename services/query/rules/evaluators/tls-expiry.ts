import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

const handshakeMs = 5_000

/** Seconds until the certificate that the host shows ends; below 0 when it has. Also told when the host cannot be asked. */
export const tlsExpiry: Evaluator = async ({ host, signal, nowMs }) => {
  if (host.url.protocol !== 'https:') return { measured: untold(`host ${host.name} is not reached over TLS`) }
  const endsMs = await certificateEnd(host.url, signal)
  if (endsMs === undefined) return { measured: untold(`host ${host.name} shows no certificate`) }
  return { measured: measured(Math.floor((endsMs - nowMs) / 1_000)) }
}

/** When the shown certificate ends, whoever issued it; undefined when there is no handshake. */
const certificateEnd = (url: URL, signal: AbortSignal): Promise<number | undefined> => {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(url.port) || 443,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    // It is looked at, not relied on: nothing is sent.
    rejectUnauthorized: false,
  })
  socket.setTimeout(handshakeMs)
  const leave = (): void => void socket.destroy()
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
