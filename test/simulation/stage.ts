/** Where the stories of a world are played, and how the outside reaches the service. */

import { createNotificationStore, type NetworkNotification } from '../../redis/notifications/notifications.js'
import type { Installation } from './simulated-installation.js'
import type { MerchantClient } from './simulated-merchant.js'
import type { Process, World } from './world.js'

export interface Stage {
  readonly world: World
  readonly installation: Installation
  readonly client: MerchantClient
  /** A process that is neither killed nor stopped: merchants, buyers, the network's notifications. */
  readonly outside: Process
}

/** The card network posts that something happened to a sale, until a post is taken. `isPatient`: perhaps much later. */
export async function report(
  { world, installation, outside }: Omit<Stage, 'client'>,
  notification: NetworkNotification,
  { isPatient = true } = {}
): Promise<void> {
  const { notificationLateMaxMs } = installation.faults
  if (isPatient && notificationLateMaxMs > 0 && world.random.chance(0.5)) {
    world.note('notification late')
    await world.pause(world.random.next() * notificationLateMaxMs)
  }
  const redis = installation.connect(outside, installation.durable)
  const writes = installation.writesOf(outside, redis)
  const notifications = createNotificationStore(writes, installation.config.partitions)
  await untilDone(world, () => notifications.note(notification, world.nowMs))
}

/** Repeats what a broken connection or a server that is away may have kept from happening. */
export async function untilDone(world: World, work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch {
      await world.pause(200)
    }
  }
}
