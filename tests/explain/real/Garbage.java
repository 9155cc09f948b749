// SPDX-License-Identifier: MIT
// Keeps many objects and makes more: the collector has to go through all of them again and again, while the program stands still.
import java.util.ArrayList;
import java.util.List;

public class Garbage {
	public static void main(String[] words) {
		List<byte[]> kept = new ArrayList<>();
		long sum = 0;
		for (int i = 0; i < 400_000; i++)
			kept.add(new byte[40]);
		for (int i = 0; i < 6_000_000; i++) {
			byte[] some = new byte[200];
			kept.set(i % kept.size(), new byte[40]);
			sum += some.length;
		}
		System.out.println(sum);
	}
}
