import { parseSetCookie } from 'cookie'
import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { idpCookie } from '../cookies.ts'
import { algorithms } from '../token.ts'
import type { IdpAddresses } from './addresses.ts'

/** The page where people sign in, which sends them to `callback` afterwards. */
export const hostedPage = ({ signIn }: IdpAddresses, callback: string): string =>
  withParameters(signIn, { redirect_url: callback })

/**
 * Where the provider turns its own cookie, which only its site sees, into a session token for ours: it sends the browser back to
 * `callback` with a handshake. In development it has no cookie, and knows the browser by a token instead.
 */
export const handshakePage = ({ handshake }: IdpAddresses, callback: string, browser: string | undefined): string =>
  withParameters(handshake, {
    redirect_url: callback,
    suffixed_cookies: 'false',
    ...(browser !== undefined && { __clerk_db_jwt: browser }),
  })

const withParameters = (address: string, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** The cookies that the provider wants set, as it writes them. */
const Handshake = z.object({ handshake: z.array(z.string().max(8_192)).max(32) })

/** The session token that a handshake brings; undefined when it is forged or nobody is signed in. */
export const tokenOfHandshake = async (
  handshake: string,
  keys: JWTVerifyGetKey,
  nowMs: number,
): Promise<string | undefined> => {
  try {
    const { payload } = await jwtVerify(handshake, keys, { algorithms, currentDate: new Date(nowMs) })
    const cookies = Handshake.safeParse(payload).data?.handshake.map((line) => parseSetCookie(line)) ?? []
    return cookies.find(({ name }) => name === idpCookie)?.value || undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
