import { builtFlag } from '../src/lib/state/built.ts'
import type { Environment } from './client-variables.ts'

/** Whether an edge platform serves the files of the web itself. */
export const isEdgeBuild = ({ ENABLE_EDGE_BUILD }: Environment): boolean => builtFlag(ENABLE_EDGE_BUILD) ?? false

/**
 * What the gateway would else say of the files, in the form that edge platforms read beside them: names with a hash never
 * change, and no page may be framed or guessed at.
 */
export const edgeHeaders = `/*
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Referrer-Policy: same-origin
/_app/immutable/*
  Cache-Control: public, max-age=31536000, immutable
`
