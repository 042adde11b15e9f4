import type { Refusal, Shown } from '../../response/failure.ts'

/** What our failures are called in OAuth (RFC 6749 §5.2, RFC 8628 §3.5); its own errors keep their names. */
const oauthNames: Readonly<Record<string, string>> = {
  invalid: 'invalid_request',
  'too-large': 'invalid_request',
  'unsupported-media-type': 'invalid_request',
  'rate-limited': 'slow_down',
  busy: 'temporarily_unavailable',
  conflict: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  timeout: 'temporarily_unavailable',
  internal: 'server_error',
}

/** Failures as clients of OAuth read them. */
export const oauthRefusal: Refusal = (shown) => ({
  status: shown.status,
  body: { error: nameOf(shown), error_description: plain(shown.message) },
})

const nameOf = ({ type, details }: Shown): string => {
  const parameter = type === 'invalid' ? details?.parameter : undefined
  if (typeof parameter === 'string' && /^scope(\.|$)/.test(parameter)) return 'invalid_scope'
  return oauthNames[type] ?? type.replaceAll('-', '_')
}

/** A description may hold neither quotes nor anything outside ASCII. */
const plain = (message: string): string => message.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')
