import { parseBuildFlag } from '../src/lib/state/build-flags.ts'
import type { Environment } from './client-variables.ts'

/** Returns whether the build is for an edge platform, which serves the static files instead of the gateway. */
export const isEdgeBuild = ({ ENABLE_EDGE_BUILD }: Environment): boolean => parseBuildFlag(ENABLE_EDGE_BUILD) ?? false

/**
 * The response headers of the gateway, in the `_headers` format of edge platforms. Files with a content hash are cached
 * for a year; pages must not be framed, and their content type must not be sniffed.
 */
export const edgeHeaders = `/*
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Referrer-Policy: same-origin
/_app/immutable/*
  Cache-Control: public, max-age=31536000, immutable
`
