import { ApiKeyAnswer, DeviceCodeAnswer } from '#proto/http/auth.ts'

/** One request, ready to be sent. */
export interface GoodRequest {
  url: string
  body?: unknown
  cookie?: string
  bearer?: string
  /** A body that is no JSON of ours, with the headers that go with it. */
  raw?: string
  headers?: Readonly<Record<string, string>>
}

/** Sends a request and reads the JSON of its answer. */
type Post = (request: GoodRequest) => Promise<unknown>

const keys = '/api/v1/auth/api-key'
const code = '/api/v1/auth/device/code'
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * Good requests of the routes that make keys and sign devices in, by the name of their route. Some are made of what other
 * requests are answered first, with device login on and a person signed in.
 */
export const authRequests = (post: Post, secret: string): Record<string, () => Promise<GoodRequest>> => {
  const begin = async () => DeviceCodeAnswer.parse(await post({ url: code, body: {} }))
  const approved = async () => {
    const codes = await begin()
    await post({ url: '/api/v1/auth/device/approve', body: { user_code: codes.user_code } })
    return { grant_type: grantType, device_code: codes.device_code }
  }
  const decide = (url: string) => async () => ({ url, body: { user_code: (await begin()).user_code } })

  return {
    'GET /api/v1/auth/cli': async () => ({ url: '/api/v1/auth/cli' }),
    'POST /api/v1/auth/api-key': async () => ({ url: keys, body: { label: 'ci' }, bearer: secret }),
    'GET /api/v1/auth/api-keys': async () => ({ url: `${keys}s`, bearer: secret }),
    'DELETE /api/v1/auth/api-keys/{id}': async () => {
      const issued = ApiKeyAnswer.parse(await post({ url: keys, body: { label: 'ci' }, bearer: secret }))
      return { url: `${keys}s/${issued.data.id}`, bearer: secret }
    },
    'POST /auth/device/code': async () => ({ url: '/auth/device/code', body: {} }),
    'POST /api/v1/auth/device/code': async () => ({ url: code, body: {} }),
    'POST /auth/token': async () => ({ url: '/auth/token', body: await approved() }),
    'POST /api/v1/auth/token': async () => ({ url: '/api/v1/auth/token', body: await approved() }),
    'POST /api/v1/auth/device/approve': decide('/api/v1/auth/device/approve'),
    'POST /api/v1/auth/device/deny': decide('/api/v1/auth/device/deny'),
    'GET /api/v1/auth/device/status': async () => ({
      url: `/api/v1/auth/device/status?user_code=${(await begin()).user_code}`,
    }),
    'GET /auth.md': async () => ({ url: '/auth.md' }),
    'GET /.well-known/oauth-protected-resource': async () => ({ url: '/.well-known/oauth-protected-resource' }),
    'GET /.well-known/oauth-protected-resource/api/mcp': async () => ({
      url: '/.well-known/oauth-protected-resource/api/mcp',
    }),
    'GET /.well-known/api-catalog': async () => ({ url: '/.well-known/api-catalog' }),
  }
}
