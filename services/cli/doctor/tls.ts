import { isIP } from 'node:net'
import { connect, type PeerCertificate } from 'node:tls'

/** The encryption of a connection, or why it could not be checked. */
export type TlsState =
  | { isEncrypted: false; isLocal: boolean }
  | { isEncrypted: true; protocol: string; isTrusted: boolean; problem: string | null; expiresInDays: number | null }

const connectWithinMs = 5_000
const dayMs = 86_400_000

/** Connects once to read the certificate of the server. Rejects if the port cannot be reached or does not speak TLS. */
export const inspectTls = async (url: URL, nowMs: number, signal: AbortSignal): Promise<TlsState> => {
  if (url.protocol === 'http:') return { isEncrypted: false, isLocal: isLoopback(url.hostname) }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return await new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      // The certificate is inspected before it is trusted. No data is sent over this connection.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    })
    const end = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(connectWithinMs, () => end(new Error('no TLS handshake within 5 s')))
    signal.addEventListener('abort', () => end(new Error('aborted')), { once: true })
    socket.once('error', end)
    socket.once('secureConnect', () => {
      const certificate: Partial<PeerCertificate> = socket.getPeerCertificate()
      const expiresAtMs = Date.parse(certificate.valid_to ?? '')
      // Node reports the code of the problem as text, although it is declared as an error.
      const problem = socket.authorizationError ? String(socket.authorizationError) : null
      resolve({
        isEncrypted: true,
        protocol: socket.getProtocol() ?? 'unknown',
        isTrusted: socket.authorized,
        problem,
        expiresInDays: Number.isNaN(expiresAtMs) ? null : Math.floor((expiresAtMs - nowMs) / dayMs),
      })
      socket.end()
    })
  })
}

const isLoopback = (hostname: string): boolean => /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
