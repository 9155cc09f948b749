// SPDX-License-Identifier: MIT
#include "user_module.h"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "monitor/device.h"

namespace monitor::card {
namespace {

std::uint32_t refused_by(int device)
{
	edc_device_info info{};
	return ::ioctl(device, EDC_DEVICE_INFO, &info) == 0 ? info.refused : 0;
}

} // namespace

UserModule::UserModule(Fd device) : device_(std::move(device)), refused_before_(refused_by(device_.get())) {}

std::unique_ptr<UserModule> UserModule::open()
{
	Fd device(::open(EDC_DEVICE, O_RDWR | O_CLOEXEC));
	if (!device)
		return nullptr;
	if (::ioctl(device.get(), EDC_DEVICE_USERS) < 0) {
		if (errno == EBUSY)
			throw Error("another recorder reads the rings that the kernel module gave to programs; wait "
				    "until it ends");
		return nullptr; // a module of another version, or no permission
	}
	return std::unique_ptr<UserModule>(new UserModule(std::move(device)));
}

std::vector<edc_device_process> UserModule::take_arrived()
{
	std::vector<edc_device_process> arrived;
	std::array<edc_device_process, 64> some;
	for (ssize_t bytes; (bytes = ::read(device_.get(), some.data(), sizeof some)) > 0;)
		arrived.insert(arrived.end(), some.begin(),
			       some.begin() + bytes / static_cast<ssize_t>(sizeof some[0]));
	return arrived;
}

Mapping UserModule::map(const edc_device_process &process) const
{
	void *address = ::mmap(nullptr, process.area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device_.get(),
			       static_cast<off_t>(process.number * EDC_DEVICE_AREA_STEP));
	return address == MAP_FAILED ? Mapping() : Mapping(address, process.area_bytes);
}

std::uint16_t UserModule::id_of(std::string_view name, std::string_view fields)
{
	std::string texts(name);
	texts.append(1, '\0').append(fields).append(1, '\0');
	std::uint16_t id = 0;
	edc_device_hello hello{};
	hello.texts = reinterpret_cast<std::uintptr_t>(texts.data());
	hello.ids = reinterpret_cast<std::uintptr_t>(&id);
	hello.request = EDC_HELLO_CLASSES;
	hello.classes = 1;
	hello.text_bytes = static_cast<__u32>(texts.size());
	return ::ioctl(device_.get(), EDC_DEVICE_HELLO, &hello) < 0 ? 0 : id;
}

std::optional<DeclaredClass> UserModule::next_class()
{
	std::array<char, EDC_DEVICE_CLASS_BYTES> text;
	edc_device_class next{};
	next.serial = last_class_;
	next.text = reinterpret_cast<std::uintptr_t>(text.data());
	next.bytes = text.size();
	if (::ioctl(device_.get(), EDC_DEVICE_CLASS, &next) < 0)
		return {};
	last_class_ = next.serial;
	DeclaredClass declared{static_cast<std::uint16_t>(next.id), text.data(), {}};
	declared.fields = text.data() + declared.name.size() + 1;
	return declared;
}

std::uint64_t UserModule::refused() const
{
	return refused_by(device_.get()) - refused_before_;
}

} // namespace monitor::card
