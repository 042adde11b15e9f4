import type { AnyDetector } from '../detection/detector.ts'
import { clockSkew } from './clock-skew.ts'
import { compression } from './compression.ts'
import { detachedParts } from './detached-parts.ts'
import { diskFull } from './disk-full.ts'
import { errorRate } from './error-rate.ts'
import { failedDictionary } from './failed-dictionary.ts'
import { fragmentation } from './fragmentation.ts'
import { insertStopped } from './insert-stopped.ts'
import { longQuery } from './long-query.ts'
import { mirrorCopying } from './mirror-copying.ts'
import { mirrorErrors } from './mirror-errors.ts'
import { mirrorStopped } from './mirror-stopped.ts'
import { newErrorCode } from './new-error-code.ts'
import { newPattern } from './new-pattern.ts'
import { p95Duration } from './p95-duration.ts'
import { rejectedInserts } from './parts-refused.ts'
import { patternRegression } from './pattern-regression.ts'
import { patternSkew } from './pattern-skew.ts'
import { peakMemory } from './peak-memory.ts'
import { readonlyReplica } from './readonly-replica.ts'
import { replicaLag } from './replica-lag.ts'
import { settingsDrift } from './settings-drift.ts'
import { slotGrowth } from './slot-growth.ts'
import { slotLag } from './slot-lag.ts'
import { stuckMutation } from './stuck-mutation.ts'
import { ttlHealth } from './ttl-health.ts'
import { versionDrift } from './version-drift.ts'

/** All detectors. */
export const detectors: readonly AnyDetector[] = [
  errorRate,
  p95Duration,
  peakMemory,
  newErrorCode,
  newPattern,
  patternRegression,
  insertStopped,
  fragmentation,
  compression,
  ttlHealth,
  readonlyReplica,
  replicaLag,
  detachedParts,
  stuckMutation,
  longQuery,
  failedDictionary,
  rejectedInserts,
  diskFull,
  patternSkew,
  versionDrift,
  settingsDrift,
  clockSkew,
  mirrorStopped,
  mirrorErrors,
  mirrorCopying,
  slotLag,
  slotGrowth,
]

/** The detectors that compare current values with a baseline. */
export const anomalyDetectors: readonly AnyDetector[] = [
  errorRate,
  p95Duration,
  peakMemory,
  newErrorCode,
  newPattern,
  patternRegression,
  insertStopped,
  patternSkew,
]
