import type { Request } from 'express'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, url } from '#shared/config/setting.ts'

export const publicUrlSettings = {
  SVC_PUBLIC_URL: url('Address people and tools reach the product at; without it links repeat the host they asked.', {
    protocols: ['http', 'https'],
  }),
} as const

/** The address a caller reaches the product at, without a slash at its end. */
export const publicUrl = (request: Pick<Request, 'protocol' | 'headers'>, env: Environment): string => {
  const { SVC_PUBLIC_URL: known } = read(publicUrlSettings, env)
  if (known !== undefined) return `${known.origin}${known.pathname.replace(/\/+$/, '')}`
  const asked = `${request.protocol}://${request.headers.host ?? ''}`
  if (!URL.canParse(asked)) throw new ServiceError('invalid', 'the Host header is not the name of a host')
  return new URL(asked).origin
}
