import { parseBuildFlag } from '../src/lib/state/build-flags.ts'
import type { Environment } from './client-variables.ts'

/** Whether an edge platform serves the static files. */
export const isEdgeBuild = ({ ENABLE_EDGE_BUILD }: Environment): boolean => parseBuildFlag(ENABLE_EDGE_BUILD) ?? false

/**
 * The headers that the gateway would send, in the format of edge platforms: hashed files never change, and pages
 * must not be framed or sniffed.
 */
export const edgeHeaders = `/*
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Referrer-Policy: same-origin
/_app/immutable/*
  Cache-Control: public, max-age=31536000, immutable
`
